/** The words of a request: out of the row of its step, else out of its record. */
import { usePolled } from '../../poll.ts'
import { LongText } from '../../ui/long-text.tsx'
import type { ChainStep } from '../../data/chain.ts'
import { objectAt, textAt } from '../../../../src/presentation/index.ts'

interface AskTextProps {
  readonly scenario: string
  readonly id: string
  readonly step: ChainStep | undefined
}

export function AskText({ scenario, id, step }: AskTextProps) {
  const text = step === undefined ? null : textAt(objectAt(step.row.metrics, 'training_request'), 'text')
  return text === null ? <StoredText scenario={scenario} id={id} /> : <LongText value={text} />
}

function StoredText({ scenario, id }: Omit<AskTextProps, 'step'>) {
  const { value, said } = usePolled(`text of ${scenario} ${id}`, (service) => service(scenario).record(id), null)
  if (said?.status === 404) return <p class="muted">Its text was evicted.</p>
  return value === null ? <p class="muted">…</p> : <LongText value={textAt(value.payload, 'text') ?? ''} />
}
