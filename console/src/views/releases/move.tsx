/** Promote and roll back: a dialog says what will be served and what changes; a line says the outcome. */
import { useState } from 'preact/hooks'
import { behindLine, filesSummary, type StepMove } from '../../../../src/presentation/index.ts'
import { useSession } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Id } from '../../ui/id.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { viewOf, type StepProps } from '../../data/chain.ts'
import { useChain } from '../../data/use-chain.ts'
import { PowersList } from './powers.tsx'
import { useFileChanges } from './release-files.tsx'

interface MoveProps extends StepProps {
  readonly move: StepMove
  readonly done: (line: string) => void
}

/** The chain, and the outcome of the last move in it. */
export function useMoves(scenario: string) {
  const { value: chain, said, refresh } = useChain(scenario)
  const [moved, setMoved] = useState<string | null>(null)
  const done = (line: string): void => {
    setMoved(line)
    void refresh()
  }
  const notices = (
    <>
      <Notice said={said} />
      <p class={moved === null ? 'hidden-visually' : 'notice good'} role="status">
        {moved}
      </p>
      {chain === null && said === null && <p class="muted">Reading the releases …</p>}
    </>
  )
  return { chain, done, notices }
}

const VERBS = { promote: 'Promote', rollback: 'Roll back' } as const

export function MoveButton(props: MoveProps) {
  const { scenario, step, move, done } = props
  const session = useSession()
  const [isAsked, setAsked] = useState(false)
  const act = async (): Promise<void> => {
    const service = session.service(scenario)
    const head = await (move === 'promote' ? service.promote(step.row.release_id) : service.rollback(step.row.release_id))
    const behind = behindLine(head.gateways_behind ?? [])
    done(`The content of ${step.name} is served as release ${head.release_id.slice(0, 10)}.${behind === null ? '' : ` Note: ${behind}.`}`)
  }
  const verb = `${VERBS[move]}${move === 'rollback' ? ` to ${step.name}` : ` ${step.name}`}`
  return (
    <>
      <button type="button" class={`button small ${move === 'promote' ? 'primary' : ''}`} onClick={() => setAsked(true)}>
        {VERBS[move]}
        <span class="hidden-visually"> {move === 'rollback' ? `to ${step.name}` : step.name}</span>
      </button>
      {isAsked && (
        <Confirm title={`${verb}?`} verb={verb} act={act} close={() => setAsked(false)}>
          <Consequences {...props} />
        </Confirm>
      )}
    </>
  )
}

function madeWords(isUnproven: boolean, move: MoveProps['move']): string {
  if (isUnproven) return 'It is provisional, which is unproven, and was made'
  return move === 'promote' ? 'It was held for review' : 'It was made'
}

function Consequences({ scenario, chain, step, move }: MoveProps) {
  const { head, hasFiles } = chain
  const { reason, powers } = viewOf(chain, step)
  return (
    <>
      <p>
        <Text value={scenario} /> will serve the content of <b>{step.name}</b>
        {head !== null && (
          <>
            {' '}
            instead of <b>{head.name}</b>
          </>
        )}
        , as a new release on top of it. {madeWords(step.row.provisional === true, move)} <Ago at={step.row.recorded_at} />.
      </p>
      {reason.isQuoted && (
        <blockquote class="quote">
          <Text value={reason.text.slice(0, QUOTED_CHARACTERS_MAX)} />
        </blockquote>
      )}
      {move === 'promote' && powers !== null && <PowersList powers={powers} />}
      <Facts
        facts={[
          ['Release', <Id value={step.row.release_id} />],
          ['Content', <Id value={step.row.content_id} />],
          hasFiles && head !== null
            ? ['Files', <FilesSummary scenario={scenario} from={head.row.release_id} to={step.row.release_id} />]
            : null,
        ]}
      />
      <p class="muted small">Requests in flight keep their release. Nothing is lost: every release stays and can be served again.</p>
    </>
  )
}

const QUOTED_CHARACTERS_MAX = 600

function FilesSummary(props: Parameters<typeof useFileChanges>[0]) {
  const { value, said } = useFileChanges(props)
  if (said !== null) return <Notice said={said} />
  if (value === null) return <span class="muted">comparing …</span>
  return (
    <>
      {filesSummary(value)}
      <ul class="mono small">
        {value.slice(0, LISTED_MAX).map(({ path, kind }) => (
          <li key={path}>
            {kind} <Text value={path} />
          </li>
        ))}
        {value.length > LISTED_MAX && <li>and {value.length - LISTED_MAX} more</li>}
      </ul>
    </>
  )
}

const LISTED_MAX = 8
