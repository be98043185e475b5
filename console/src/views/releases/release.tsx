/** One step: why it was made, what it came to and on what evidence, what it changes, and what it left behind. */
import { useState } from 'preact/hooks'
import { go, hrefOf, type Route } from '../../route.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Id } from '../../ui/id.tsx'
import { useKeys } from '../../ui/keys.ts'
import { LongText } from '../../ui/long-text.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { madeBy, madeRelease, moveOf, statusOf, whyOf, type Chain, type Step } from '../../data/chain.ts'
import { DecisionCard } from './evidence.tsx'
import { dataAt, textAt } from '../../data/json.ts'
import { MoveButton } from './move.tsx'
import { mutationsOf, type Mutation } from './mutations.ts'
import { NotesCard } from './notes.tsx'
import { ReleaseFiles } from './release-files.tsx'
import { StepFiles } from './step-files.tsx'
import { useChain } from '../../data/use-chain.ts'
import './releases.css'

interface ReleaseProps {
  readonly scenario: string
  readonly id: string
}

export function Release({ scenario, id }: ReleaseProps) {
  const asked = useChain(scenario)
  const { value: chain, said } = asked
  const [moved, setMoved] = useState<string | null>(null)
  const to = (step: string | null): Route => ({ at: 'scenario', scenario, view: 'releases', id: step })
  const done = (line: string): void => {
    setMoved(line)
    asked.refresh()
  }
  const step = chain?.steps.find((each) => each.id === id)
  return (
    <div class="stack releases">
      <nav class="row" aria-label="Steps">
        <a href={hrefOf(to(null))}>← All releases</a>
        <span class="spring" />
        {chain !== null && step !== undefined && <Neighbours chain={chain} step={step} to={to} />}
      </nav>
      <Notice said={said} />
      <p class={moved === null ? 'hidden-visually' : 'notice good'} role="status">
        {moved}
      </p>
      {chain !== null && step === undefined && <Empty title="No such step" hint={<a href={hrefOf(to(null))}>All releases</a>} />}
      {chain !== null && step !== undefined && <Whole key={id} scenario={scenario} chain={chain} step={step} done={done} />}
      {chain === null && said === null && <p class="muted">Reading the release …</p>}
    </div>
  )
}

interface NeighboursProps {
  readonly chain: Chain
  readonly step: Step
  readonly to: (step: string | null) => Route
}

function Neighbours({ chain: { steps }, step, to }: NeighboursProps) {
  const at = steps.indexOf(step)
  const [newer, older] = [steps[at - 1], steps[at + 1]]
  useKeys({
    ...(older !== undefined && { j: () => go(to(older.id)) }),
    ...(newer !== undefined && { k: () => go(to(newer.id)) }),
  })
  return (
    <>
      {older !== undefined && <a href={hrefOf(to(older.id))}>Older: {older.name}</a>}
      {newer !== undefined && <a href={hrefOf(to(newer.id))}>Newer: {newer.name}</a>}
    </>
  )
}

interface WholeProps {
  readonly scenario: string
  readonly chain: Chain
  readonly step: Step
  readonly done: (line: string) => void
}

function Whole({ scenario, chain, step, done }: WholeProps) {
  const mutations = mutationsOf(step.row.metrics)
  return (
    <>
      <Head scenario={scenario} chain={chain} step={step} done={done} />
      <WhyCard chain={chain} step={step} />
      <DecisionCard step={step} />
      <NotesCard metrics={step.row.metrics} />
      {mutations.length > 0 && <MutationsCard mutations={mutations} />}
      {chain.hasFiles && madeRelease(step) && <ReleaseFiles scenario={scenario} chain={chain} step={step} />}
      {chain.hasFiles && <StepFiles scenario={scenario} place={step.id} />}
    </>
  )
}

function Head({ scenario, chain, step, done }: WholeProps) {
  const { row, name, pagePath } = step
  const status = statusOf(chain, step)
  const move = moveOf(chain, step)
  return (
    <header class="stack tight">
      <div class="row">
        <h1>{name}</h1>
        <Badge tone={status.tone}>{status.word}</Badge>
        {row.current && <Badge tone="good">Served now</Badge>}
        <span class="spring" />
        {pagePath !== null && (
          <a class="button small" href={pagePath} target="_blank" rel="noopener noreferrer">
            Page to share <span aria-hidden="true">↗</span>
            <span class="hidden-visually">, opens in a new tab</span>
          </a>
        )}
        {move !== null && <MoveButton scenario={scenario} chain={chain} step={step} move={move} done={done} />}
      </div>
      <p class="muted">{status.meaning}</p>
      <Facts
        across
        facts={[
          ['When', <Ago at={row.recorded_at} />],
          [madeRelease(step) ? 'Release' : 'Ran on', <Id value={row.release_id} />],
          madeRelease(step) && row.parent_release_id !== null
            ? ['Parent', <Parent chain={chain} releaseId={row.parent_release_id} />]
            : null,
          ['Content', <Id value={row.content_id} />],
          row.component === undefined ? null : ['Component', <Text value={row.component} />],
        ]}
      />
    </header>
  )
}

function Parent({ chain, releaseId }: { readonly chain: Chain; readonly releaseId: string }) {
  return (
    <>
      <Id value={releaseId} /> <span class="muted">{madeBy(chain, releaseId)?.name}</span>
    </>
  )
}

function WhyCard({ chain, step }: { readonly chain: Chain; readonly step: Step }) {
  const why = whyOf(chain, step)
  const notes = dataAt(step.row.metrics, 'proposal_notes')
  const design = textAt(notes, 'design')
  const session = textAt(dataAt(step.row.metrics, 'training_request'), 'session') ?? textAt(dataAt(step.row.metrics, 'proposal'), 'session')
  return (
    <Card title="Why" aside={<span class="muted small">{why.from}</span>}>
      {why.text !== null && <LongText value={why.text} />}
      {session !== null && (
        <p class="muted small">
          Session <Id value={session} />
        </p>
      )}
      {design !== null && (
        <>
          <h3>Design</h3>
          <LongText value={design} />
        </>
      )}
      {why.text === null && design === null && <p class="muted">{unsaid(step)}</p>}
    </Card>
  )
}

/** Traffic says nothing in words; how much of it there was is known. */
function unsaid({ row: { metrics } }: Step): string {
  const { traces } = metrics
  return typeof traces === 'number' && traces > 0
    ? `From ${traces} reported ${traces === 1 ? 'sample' : 'samples'}.`
    : 'Nothing was said about it.'
}

const TONES: Readonly<Record<string, Tone>> = { create: 'good', update: 'warn', remove: 'bad' }

function MutationsCard({ mutations }: { readonly mutations: readonly Mutation[] }) {
  return (
    <Card title="What changes" aside={<span class="muted small">in the tree of entries</span>}>
      {mutations.map(({ op, id, kind, text, isCode, rest }, place) => (
        <article key={place} class="stack tight mutation">
          <h3 class="row">
            <Badge tone={TONES[op] ?? 'plain'}>
              <Text value={op} />
            </Badge>
            <span class="mono">
              <Text value={id} />
            </span>
            {kind !== null && (
              <span class="muted">
                <Text value={kind} />
              </span>
            )}
          </h3>
          {text !== null && <LongText value={text} mono={isCode} />}
          {rest !== null && <LongText value={rest} mono />}
        </article>
      ))}
    </Card>
  )
}
