/** The record of a step beside its row: what was asked, proposed and played. Listed when it is opened. */
import { useState } from 'preact/hooks'
import { bytes, counted, prettyText } from '../../../../src/presentation/index.ts'
import { usePolled } from '../../poll.ts'
import { useFilter } from '../../route.ts'
import { useSession } from '../../session.ts'
import { LongText } from '../../ui/long-text.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Text } from '../../ui/text.tsx'
import { visible } from '../../ui/visible.ts'
import { EMPTY_WORDS, listedIn, textIn, type RecordFile } from './step-list.ts'

interface StepFilesProps {
  readonly scenario: string
  /** The step's place in the catalog. */
  readonly place: string
}

export function StepFiles(props: StepFilesProps) {
  const [find, file] = [useFilter('find'), useFilter('file')]
  const [isOpen, setOpen] = useState(find.value !== '' || file.value !== '')
  return (
    <details class="card" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <h2 class="inline">Step record</h2>
      </summary>
      {isOpen && <Listed {...props} />}
    </details>
  )
}

const pathOf = (place: string): string => `/svc/harness/releases/${encodeURIComponent(place)}/records`

function Listed({ scenario, place }: StepFilesProps) {
  const session = useSession()
  const { value, said } = usePolled(
    `files of step ${scenario} ${place}`,
    async () => listedIn(await session.service(scenario).text(pathOf(place))),
    null,
  )
  const { value: wanted, type: setWanted } = useFilter('find')
  const { value: asked, choose: setRead } = useFilter('file')
  if (said !== null) return <Notice said={said} />
  if (value === null) return <p class="muted">Reading the list …</p>
  if (value.files.length === 0) return <p class="muted">{EMPTY_WORDS[value.status] ?? 'Nothing was kept of this step.'}</p>
  const read = value.files.find(({ path }) => path === asked)?.path ?? null
  const found = value.files.filter(({ path }) => path.toLowerCase().includes(wanted.toLowerCase()))
  return (
    <div class="stack tight step-files">
      <label class="field">
        <span>Find among {counted(value.files.length, 'file')}</span>
        <input
          type="search"
          data-filter
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
          placeholder="candidate-3"
        />
      </label>
      <ul class="step-list">
        {found.slice(0, LISTED_MAX).map((file) => (
          <li key={file.path}>
            <FileButton file={file} isRead={read === file.path} pick={() => setRead(file.path)} />
          </li>
        ))}
      </ul>
      {found.length > LISTED_MAX && <p class="muted small">and {found.length - LISTED_MAX} more; type a part of the name to find them</p>}
      {read !== null && (
        <section class="stack tight" aria-label={visible(read)}>
          <h3 class="mono">
            <Text value={read} />
          </h3>
          <FileText key={read} scenario={scenario} place={place} path={read} />
        </section>
      )}
    </div>
  )
}

const LISTED_MAX = 60

interface FileButtonProps {
  readonly file: RecordFile
  readonly isRead: boolean
  readonly pick: () => void
}

function FileButton({ file, isRead, pick }: FileButtonProps) {
  return (
    <button type="button" class="step-file mono" aria-pressed={isRead} onClick={pick}>
      <Text value={file.path} /> <span class="muted">{bytes(file.bytes)}</span>
    </button>
  )
}

function FileText({ scenario, place, path }: StepFilesProps & { readonly path: string }) {
  const session = useSession()
  const { value, said } = usePolled(
    `file ${scenario} ${place} ${path}`,
    async () => textIn(await session.service(scenario).text(pathOf(place), { path })),
    null,
  )
  if (said !== null) return <Notice said={said} />
  if (value === null) return <p class="muted">Reading …</p>
  return <LongText value={prettyText(value)} mono />
}
