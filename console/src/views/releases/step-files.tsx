/** The record of a step beside its row: what was asked, proposed and played. Listed when it is opened. */
import { useState } from 'preact/hooks'
import { bytes, counted, isRecord, objectsAt, prettyText, textAt } from '../../../../src/presentation/index.ts'
import { usePolled } from '../../poll.ts'
import { useFilter } from '../../route.ts'
import { LongText, Text } from '../../ui/text.tsx'
import { visible } from '../../ui/visible.ts'
import { Notice } from '../../ui/notice.tsx'

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

/** The route of the record of a step, by its place in the catalog. */
export const recordPath = (place: string): string => `/svc/harness/releases/${encodeURIComponent(place)}/records`

function Listed({ scenario, place }: StepFilesProps) {
  const { value, said } = usePolled(
    `files of step ${scenario} ${place}`,
    async (service) => listedIn(await service(scenario).text(recordPath(place))),
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
            <button type="button" class="step-file mono" aria-pressed={read === file.path} onClick={() => setRead(file.path)}>
              <Text value={file.path} /> <span class="muted">{bytes(file.bytes)}</span>
            </button>
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

function FileText({ scenario, place, path }: StepFilesProps & { readonly path: string }) {
  const { value, said } = usePolled(
    `file ${scenario} ${place} ${path}`,
    async (service) => textIn(await service(scenario).text(recordPath(place), { path })),
    null,
  )
  if (said !== null) return <Notice said={said} />
  if (value === null) return <p class="muted">Reading …</p>
  return <LongText value={prettyText(value)} mono />
}

interface RecordFile {
  readonly path: string
  readonly bytes: number
}

/** Files of the whole step come first, then its episodes in the order of their numbers. */
export function listedIn(answer: string): { readonly status: string; readonly files: readonly RecordFile[] } {
  const value: unknown = JSON.parse(answer)
  const data = isRecord(value) ? value : {}
  const files = objectsAt(data, 'files').flatMap((file) => {
    const path = textAt(file, 'path')
    return path === null ? [] : [{ path, bytes: Number(file['bytes'] ?? 0) }]
  })
  return { status: textAt(data, 'status') ?? '', files: files.toSorted(byDepth) }
}

const depthOf = ({ path }: RecordFile): number => path.split('/').length

const byDepth = (one: RecordFile, other: RecordFile): number =>
  depthOf(one) - depthOf(other) || one.path.localeCompare(other.path, 'en', { numeric: true })

export function textIn(answer: string): string {
  const value: unknown = JSON.parse(answer)
  return isRecord(value) ? (textAt(value, 'text') ?? '') : ''
}

/** Why there is nothing to read. */
const EMPTY_WORDS: Readonly<Record<string, string>> = {
  not_recorded: 'This step has no record: it is no training step, or it wrote nothing.',
  disabled: 'This recipe keeps no records of its steps. Set evolution.step_record_dir to keep those to come.',
  missing: 'The record of this step was removed: the oldest go first when evolution.step_record_bytes is reached.',
}
