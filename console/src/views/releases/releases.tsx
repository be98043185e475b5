/** The chain of releases, newest first: the outcome of each step, its reason, and what may be served instead. */
import { counted, madeRelease } from '../../../../src/presentation/index.ts'
import { countOf, hrefOf, useFilter, placeIn } from '../../route.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, Toggle, PageLink } from '../../ui/button.tsx'
import { Empty } from '../../ui/notice.tsx'
import { Id } from '../../ui/id.tsx'
import { useListKeys } from '../../ui/keys.ts'
import { shortened, Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { mayReject, moveIn, viewOf, type StepChain, type StepProps } from '../../data/chain.ts'
import { Install } from './install.tsx'
import { MoveButton, useMoves } from './move.tsx'
import { RejectButton } from './reject.tsx'
import { ReleasePlots } from './release-plots.tsx'
import { ScoreLine } from './result-card.tsx'
import './releases.css'

const STEPS_AT_ONCE = 100
/** Steps that made a release alone. */
const MADE = 'made'

export function Releases({ scenario }: { readonly scenario: string }) {
  const { chain, done, notices } = useMoves(scenario)
  const steps = useFilter('steps')
  const isBrief = steps.value === MADE
  return (
    <div class="stack releases">
      <div class="row">
        <h1>Releases</h1>
        {chain !== null && <Served chain={chain} />}
        <span class="spring" />
        <Toggle isOn={isBrief} set={(isOn) => steps.choose(isOn ? MADE : '')}>
          Hide steps without a release
        </Toggle>
      </div>
      {notices}
      <Install scenario={scenario} />
      {chain !== null && <ReleasePlots scenario={scenario} chain={chain} />}
      {chain !== null && <Timeline scenario={scenario} chain={chain} isBrief={isBrief} done={done} />}
    </div>
  )
}

function Served({ chain: { head, steps } }: { readonly chain: StepChain }) {
  if (head === null) return null
  const unproven = steps.find(({ row }) => row.provisional === true)
  return (
    <span class="row muted">
      <span>
        Serving <b>{head.name}</b> since <Ago at={head.row.recorded_at} />
      </span>
      <Id value={head.row.release_id} />
      {unproven !== undefined && (
        <Badge tone="warn" title="It looked better after one round and is not proved yet.">
          {unproven.name} is provisional: unproven
        </Badge>
      )}
    </span>
  )
}

interface TimelineProps {
  readonly scenario: string
  readonly chain: StepChain
  readonly isBrief: boolean
  readonly done: (line: string) => void
}

function Timeline({ scenario, chain, isBrief, done }: TimelineProps) {
  const shown = useFilter('most')
  const most = countOf(shown.value, STEPS_AT_ONCE)
  const list = useListKeys<HTMLOListElement>('a.step-name')
  const steps = isBrief ? chain.steps.filter(({ row }) => madeRelease(row)) : chain.steps
  if (steps.length === 0) return <Empty title="No releases yet" hint="The first one comes with the scenario itself." />
  return (
    <>
      <ol class="timeline" ref={list} aria-label="Steps, newest first">
        {steps.slice(0, most).map((step) => (
          <Entry key={step.row.step} scenario={scenario} chain={chain} step={step} done={done} />
        ))}
      </ol>
      {steps.length > most && (
        <Button class="" onClick={() => shown.choose(String(most + STEPS_AT_ONCE))}>
          Show more of {counted(steps.length - most, 'older step')}
        </Button>
      )}
    </>
  )
}

function Entry({ scenario, chain, step, done }: StepProps & Pick<TimelineProps, 'done'>) {
  const { row, name, id } = step
  const { status, reason, rejection, headline, decision, scores, madeRelease: isMade } = viewOf(chain, step)
  const [outcome, move] = [decision ?? headline, moveIn(chain, step)]
  const kind = row.current ? 'served' : status.tone
  return (
    <li class={`step ${kind} ${isMade ? '' : 'minor'}`}>
      <div class="row step-head">
        <a class="step-name" href={hrefOf(placeIn(scenario, 'releases', id))}>
          {name}
        </a>
        <Badge tone={status.tone} title={status.meaning}>
          {status.word}
        </Badge>
        {row.current && <Badge tone="good">Served now</Badge>}
        <span class="muted small">{reason.origin}</span>
        <span class="spring" />
        <span class="muted small">
          <Ago at={row.recorded_at} />
        </span>
      </div>
      {(reason.isQuoted || row.rollback_target_release_id !== undefined) && (
        <p class="step-why">
          <Text value={shortened(reason.line ?? reason.text)} />
        </p>
      )}
      {rejection !== null && (
        <p class="step-why">
          <Text value={shortened(`Rejected: ${rejection.reason}`)} />
        </p>
      )}
      {outcome !== null && (
        <p class="muted small">
          <Text value={shortened(outcome)} />
        </p>
      )}
      <div class="row step-foot">
        {scores !== null && <ScoreLine scores={scores} />}
        {isMade && <Id value={row.release_id} />}
        <span class="spring" />
        <PageLink path={step.pagePath} words="Page" of={` of ${name}`} class="small" />
        {mayReject(chain, step) && <RejectButton scenario={scenario} step={step} done={done} />}
        {move !== null && <MoveButton scenario={scenario} chain={chain} step={step} move={move} done={done} />}
      </div>
    </li>
  )
}
