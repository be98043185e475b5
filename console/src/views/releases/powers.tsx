/** What a change may do on a machine: a sentence for each power, the entries and why, and what a person has to allow. */
import type { ShownPower, StepPowers } from '../../../../src/presentation/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Text } from '../../ui/text.tsx'

/** Nothing of a step that changes no harness. */
export function PowersCard({ powers }: { readonly powers: StepPowers | null }) {
  if (powers === null) return null
  return (
    <Card title={powers.title}>
      <PowersList powers={powers} />
    </Card>
  )
}

/** Also where a person is about to serve the change. */
export function PowersList({ powers: { summary, powers } }: { readonly powers: StepPowers }) {
  return (
    <>
      {powers.length > 0 && (
        <ul class="powers">
          {powers.map((power) => (
            <PowerItem key={power.name} power={power} />
          ))}
        </ul>
      )}
      <p class={powers.length === 0 ? 'muted' : 'small'}>
        <Text value={summary} />
      </p>
    </>
  )
}

function PowerItem({ power: { sentence, isHeld, reasons, more } }: { readonly power: ShownPower }) {
  return (
    <li>
      <b>
        <Text value={sentence} />
      </b>{' '}
      {isHeld && <Badge tone="warn">needs a person</Badge>}
      <ul class="muted small">
        {reasons.map(({ entry, why }, place) => (
          <li key={place}>
            <Text value={entry} class="mono" /> <Text value={why} />
          </li>
        ))}
        {more !== null && <li>{more}</li>}
      </ul>
    </li>
  )
}
