/** Another try of a change that came to nothing. */
import { expect, it } from 'vitest'
import { anotherTry, anotherTryText } from './another-try.ts'
import { HELD, REJECTED, rowOf } from './testing/rows.ts'

const asked = { training_request: { id: 'r1', text: 'Look parcels up.' } }

it('is offered of what a person rejected, and of requests that failed or were not selected', () => {
  expect(anotherTry([HELD, REJECTED], HELD)).toBe(
    'Another try at release release-1, which a person rejected. The reason: It deletes files.',
  )
  const lost = rowOf(3, { result: 'rejected', metrics: { ...asked, selection: { reason: 'no gain' } } })
  expect(anotherTry([lost], lost)).toBe('Another try at a change that was not selected. The reason: no gain')
  const failed = rowOf(4, { result: 'failed', metrics: asked })
  expect(anotherTry([failed], failed)).toBe('Another try at a change that failed.')
  for (const row of [HELD, rowOf(1), rowOf(2, { result: 'rejected' })]) expect(anotherTry([row], row)).toBeNull()
})

it('has the words of the person, and those of the first request as far as they fit', () => {
  const row = rowOf(3, { result: 'rejected', metrics: asked })
  expect(anotherTryText('Again.', ' Shorter. ', row)).toBe('Again.\n\nShorter.\n\nIt was asked for in these words: Look parcels up.')
  expect(anotherTryText('Again.', '', rowOf(1))).toBe('Again.')
  const long = rowOf(3, { metrics: { training_request: { id: 'r', text: '😀'.repeat(5000) } } })
  expect(Array.from(anotherTryText('Again.', 'Shorter.', long))).toHaveLength(4000)
})
