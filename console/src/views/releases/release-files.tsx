/** The files of a release, compared with those of its parent or of any other release. */
import { useState } from 'preact/hooks'
import type { Manifest } from '@svc-ai/client'
import { filesBetween, filesSummary, madeRelease, statusOf, type FileChange } from '../../../../src/presentation/index.ts'
import { usePolled } from '../../poll.ts'
import { useFilter } from '../../route.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Diff } from '../../ui/diff.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Text } from '../../ui/text.tsx'
import { madeBy, type ChainStep, type StepChain, type StepProps } from '../../data/chain.ts'

/** Stands for a tree without files. */
const NOTHING = ''
/** The same in an address, where nothing said is the parent. */
const WITHOUT = 'nothing'

export function ReleaseFiles({ scenario, chain, step }: StepProps) {
  const picked = useFilter('against')
  const against = againstOf(chain, step, picked.value)
  return (
    <Card
      title="Files"
      aside={
        <Picker
          chain={chain}
          step={step}
          against={against}
          pick={(releaseId) => picked.choose(releaseId === NOTHING ? WITHOUT : releaseId)}
        />
      }
    >
      <Changes scenario={scenario} from={against} to={step.row.release_id} />
    </Card>
  )
}

/** As it was picked, where there is such a release; else the parent. */
function againstOf(chain: StepChain, { row }: ChainStep, picked: string): string {
  if (picked === WITHOUT) return NOTHING
  const other = picked === row.release_id ? undefined : madeBy(chain, picked)
  return (other ?? madeBy(chain, row.parent_release_id))?.row.release_id ?? NOTHING
}

interface PickerProps extends Omit<StepProps, 'scenario'> {
  readonly against: string
  readonly pick: (releaseId: string) => void
}

function Picker({ chain, step, against, pick }: PickerProps) {
  const others = chain.steps.filter((other) => madeRelease(other.row) && other.row.release_id !== step.row.release_id)
  return (
    <label class="row small">
      <span class="muted">compared with</span>
      <select value={against} onChange={(event) => pick(event.currentTarget.value)}>
        <option value={NOTHING}>nothing</option>
        {others.map((other) => (
          <option key={other.row.step} value={other.row.release_id}>
            {`${other.name}, ${other.row.current ? 'served now' : statusOf(chain.rows, other.row).word.toLowerCase()}`}
          </option>
        ))}
      </select>
    </label>
  )
}

interface ChangesProps {
  readonly scenario: string
  readonly from: string
  readonly to: string
}

/** The files that differ between two releases. */
export const useFileChanges = ({ scenario, from, to }: ChangesProps) =>
  usePolled(
    `changes from ${from} to ${to}`,
    async (service) => {
      const filesOf = async (id: string): Promise<Manifest['files']> => (id === NOTHING ? {} : (await service(scenario).manifest(id)).files)
      const [before, after] = await Promise.all([filesOf(from), filesOf(to)])
      return filesBetween(before, after)
    },
    null,
  )

function Changes(props: ChangesProps) {
  const { value: changes, said } = useFileChanges(props)
  if (said !== null) return <Notice said={said} />
  if (changes === null) return <p class="muted">Comparing the files …</p>
  return (
    <>
      <p class="muted small">{filesSummary(changes)}</p>
      {changes.map((change) => (
        <File key={`${props.from} ${change.path}`} change={change} isOpen={changes.length <= OPEN_MAX} />
      ))}
    </>
  )
}

/** More than a few are opened one by one: each is compared when it is looked at. */
const OPEN_MAX = 3
const TONES = { added: 'good', removed: 'bad', changed: 'warn' } as const

function File({ change: { path, kind, before, after }, isOpen }: { readonly change: FileChange; readonly isOpen: boolean }) {
  const [isShown, setShown] = useState(isOpen)
  return (
    <details open={isShown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>
        <Text value={path} class="mono" /> <Badge tone={TONES[kind]}>{kind}</Badge>
      </summary>
      {isShown && <Diff before={before} after={after} label={path} />}
    </details>
  )
}
