/** What a reviewer needs before promoting: what the change covers, and what it requires of a machine. */
import type { SetupItem, StepView } from '../../../../src/presentation/index.ts'
import { Card } from '../../ui/card.tsx'
import { Text } from '../../ui/text.tsx'

export function NotesCard({ view: { review, setup } }: { readonly view: StepView }) {
  if (review === null && setup.own.length + setup.refused.length === 0) return null
  return (
    <Card title="Review" aside={review?.result != null && <Text value={review.result} />}>
      {review?.failure != null && <Points title="Not reviewed" lines={[review.failure]} />}
      <Points title="Covered" lines={review?.covered ?? []} />
      <Points title="Not covered" lines={review?.uncovered ?? []} />
      <Points title="Read from the environment and not declared" lines={review?.undeclared ?? []} />
      <Points title="Left out of the proposal" lines={review?.dropped ?? []} />
      <Points title="Needs to be set up" lines={setup.own.map(setupLine)} />
      <Points title="Refused by the step" lines={setup.refused.map(({ item, reason }) => `${item}: ${reason}`)} />
    </Card>
  )
}

const setupLine = ({ kind, name, prompt }: SetupItem): string => [kind, name, prompt ?? ''].join(' ').trim()

const POINTS_MAX = 50

function Points({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <ul class="points">
        {lines.slice(0, POINTS_MAX).map((line, place) => (
          <li key={place}>
            <Text value={line} />
          </li>
        ))}
      </ul>
    </>
  )
}
