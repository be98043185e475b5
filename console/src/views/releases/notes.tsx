/** What a reviewer would want to know before promoting: what the change covers, and what it asks of a machine. */
import { Card } from '../../ui/card.tsx'
import { Text } from '../../ui/text.tsx'
import type { Data } from '../../data/json.ts'
import { notesOf } from './notes.ts'

export function NotesCard({ metrics }: { readonly metrics: Data }) {
  const { review, covered, uncovered, requires, refused } = notesOf(metrics)
  if (review === null && requires.length + refused.length === 0) return null
  return (
    <Card title="Review" aside={review !== null && <Text value={review} />}>
      <Points title="Covered" lines={covered} />
      <Points title="Not covered" lines={uncovered} />
      <Points title="Needs to be set up" lines={requires} />
      <Points title="Refused by the step" lines={refused} />
    </Card>
  )
}

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
