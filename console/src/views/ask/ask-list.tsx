/** The requests so far, newest first, each with its outcome. */
import type { RecordRow } from '@svc-ai/client'
import { usePolled } from '../../poll.ts'
import { countOf, hrefOf, useFilter, placeIn } from '../../route.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Notice } from '../../ui/notice.tsx'
import { LongText } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { objectAt, requestStatus, statusOf, textAt } from '../../../../src/presentation/index.ts'
import type { ChainStep, StepChain, StepProps } from '../../data/chain.ts'
import { stepOf } from '../../data/requests.ts'

interface ListProps {
  readonly scenario: string
  readonly chain: StepChain
  /** The one that is shown above. */
  readonly followed: string | null
}

const AGAIN_SECONDS = 5
const AT_ONCE = 20
/** A page of records holds no more. */
const LISTED_MAX = 100

export function AskList({ scenario, chain, followed }: ListProps) {
  const shown = useFilter('most')
  const limit = Math.min(LISTED_MAX, countOf(shown.value, AT_ONCE))
  const { value: page, said } = usePolled(
    `requests of ${scenario}, ${limit}`,
    (service) => service(scenario).records({ request_type: 'train', order: 'newest', limit }),
    AGAIN_SECONDS,
  )
  return (
    <Card title="Requests so far">
      <Notice said={said} />
      {page?.records.length === 0 && <p class="muted">None yet.</p>}
      <ol class="asked">
        {page?.records.map((record) => (
          <Asked key={record.agent_record_id} {...{ scenario, chain, followed, record }} />
        ))}
      </ol>
      {page !== null && page.next !== null && limit < LISTED_MAX && (
        <Button onClick={() => shown.choose(String(LISTED_MAX))}>Show older ones</Button>
      )}
      {page !== null && page.next !== null && limit === LISTED_MAX && (
        <p class="muted small">
          Older ones are in the <a href={hrefOf(placeIn(scenario, 'traffic'))}>traffic</a>, by the type train.
        </p>
      )}
    </Card>
  )
}

function Asked({ scenario, chain, followed, record }: ListProps & { readonly record: RecordRow }) {
  const id = record.agent_record_id
  const isFollowed = id === followed
  const step = stepOf(chain, id)
  return (
    <li class={isFollowed ? 'followed' : ''}>
      <div class="row small">
        <a href={hrefOf(placeIn(scenario, 'ask', id))} aria-current={isFollowed ? 'true' : undefined}>
          <Ago at={record.created_at} />
        </a>
        {step === undefined ? <Unsettled scenario={scenario} id={id} /> : <Settled scenario={scenario} chain={chain} step={step} />}
      </div>
      <AskText scenario={scenario} id={id} step={step} />
    </li>
  )
}

function Settled({ scenario, chain, step }: StepProps) {
  const status = statusOf(chain.rows, step.row)
  return (
    <>
      <Badge tone={status.tone}>{status.word}</Badge>
      <a href={hrefOf(placeIn(scenario, 'releases', step.id))}>{step.name}</a>
    </>
  )
}

function Unsettled({ scenario, id }: { readonly scenario: string; readonly id: string }) {
  const { value } = usePolled(`state of ${scenario} ${id}`, (service) => service(scenario).progress(id), AGAIN_SECONDS)
  if (value === null) return null
  const { word, tone } = requestStatus(value.state)
  return <Badge tone={tone}>{word}</Badge>
}

interface AskTextProps {
  readonly scenario: string
  readonly id: string
  readonly step: ChainStep | undefined
}

/** The words of a request: out of the row of its step, else out of its record. */
export function AskText({ scenario, id, step }: AskTextProps) {
  const text = step === undefined ? null : textAt(objectAt(step.row.metrics, 'training_request'), 'text')
  return text === null ? <StoredText scenario={scenario} id={id} /> : <LongText value={text} />
}

function StoredText({ scenario, id }: Omit<AskTextProps, 'step'>) {
  const { value, said } = usePolled(`text of ${scenario} ${id}`, (service) => service(scenario).record(id), null)
  if (said?.status === 404) return <p class="muted">Its text was evicted.</p>
  return value === null ? <p class="muted">…</p> : <LongText value={textAt(value.payload, 'text') ?? ''} />
}
