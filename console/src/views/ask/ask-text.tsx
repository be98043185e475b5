/** The words of a request: out of the row of its step, else out of its record. */
import { usePolled } from '../../poll.ts'
import { useSession } from '../../session.ts'
import { LongText } from '../../ui/long-text.tsx'
import type { Step } from '../../data/chain.ts'
import { dataAt, textAt } from '../../data/json.ts'

interface AskTextProps {
  readonly scenario: string
  readonly id: string
  readonly step: Step | undefined
}

export function AskText({ scenario, id, step }: AskTextProps) {
  const told = step === undefined ? null : textAt(dataAt(step.row.metrics, 'training_request'), 'text')
  return told === null ? <StoredText scenario={scenario} id={id} /> : <LongText value={told} />
}

function StoredText({ scenario, id }: Omit<AskTextProps, 'step'>) {
  const session = useSession()
  const { value, said } = usePolled(`text of ${scenario} ${id}`, () => session.service(scenario).record(id), null)
  if (said?.status === 404) return <p class="muted">Its text is not kept any more.</p>
  return value === null ? <p class="muted">…</p> : <LongText value={textAt(value.payload, 'text') ?? ''} />
}
