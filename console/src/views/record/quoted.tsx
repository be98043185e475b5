/** The exchanges that a report is about: what was asked and what was answered, each opened by a click. */
import { useState } from 'preact/hooks'
import { usePolled } from '../../poll.ts'
import { hrefOf, placeIn } from '../../route.ts'
import { Bounded } from '../../ui/bounded.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Text } from '../../ui/text.tsx'
import { Conversation } from './conversation.tsx'
import { exchangeOf } from './exchange.ts'

const SHOWN_STEP = 5

export function QuotedExchanges({ scenario, references }: { readonly scenario: string; readonly references: readonly string[] }) {
  if (references.length === 0) return null
  return (
    <section class="stack tight" aria-label="The exchanges it is about">
      <h3>The exchanges it is about</h3>
      <Bounded items={references} step={SHOWN_STEP} noun="exchanges">
        {(id, at) => <Quoted key={id} scenario={scenario} id={id} isFirst={at === 0} />}
      </Bounded>
    </section>
  )
}

/** The first one is open, so that a report on one exchange needs no click. */
function Quoted({ scenario, id, isFirst }: { readonly scenario: string; readonly id: string; readonly isFirst: boolean }) {
  const [isOpen, setOpen] = useState(isFirst)
  return (
    <details class="fold" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Exchange <Text value={id.slice(0, ID_CHARACTERS)} class="mono" />
      </summary>
      {isOpen && (
        <>
          <a href={hrefOf(placeIn(scenario, 'traffic', id))}>Open the exchange</a>
          <Whole scenario={scenario} id={id} />
        </>
      )}
    </details>
  )
}

const ID_CHARACTERS = 10

function Whole({ scenario, id }: { readonly scenario: string; readonly id: string }) {
  const { value, said } = usePolled(`quoted ${scenario}/${id}`, async (service) => (await service(scenario).record(id)).payload, null)
  if (said?.status === 404) return <p class="muted">Its body is not kept any more.</p>
  if (said !== null) return <Notice said={said} />
  return value === null ? <p class="muted">Reading …</p> : <Conversation exchange={exchangeOf(value)} />
}
