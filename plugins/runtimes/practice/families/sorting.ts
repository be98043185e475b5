/** Sorting a list. The bare model sorts numbers as text and drops what repeats. */
import { drawInteger } from '../draw.ts'
import { makeTasks } from './family.ts'
import type { Family, Problem } from './family.ts'

const SORT = /\b(?:sort|order|arrange)\b[^:]*:\s*([^\n]+)/i
const DOWN = /descending|largest first|high(?:est)? to low|biggest first|reverse order/i

export const sorting: Family = {
  name: 'sorting',
  topic: /\bsort|\border(?:ing)?\b|\blists?\b/i,
  lessons: ['numeric-order', 'keep-duplicates'],
  read,
  tasks: () =>
    makeTasks('sorting', (seed) => {
      const numbers = ['a', 'b', 'c', 'd', 'e'].map((name) => drawInteger(2, 130, seed, name))
      const items = [...numbers, numbers[drawInteger(0, 4, seed, 'again')] ?? 7].map(String)
      return { prompt: `Sort these numbers in ascending order: ${items.join(', ')}`, answer: ordered(items).join(', ') }
    }),
}

function read(text: string): Problem | null {
  const items = (SORT.exec(text)?.[1] ?? '')
    .replace(/[.?!]\s*$/, '')
    .split(/\s*,\s*|\s+and\s+/)
    .map((item) => item.trim())
    .filter((item) => item !== '')
  if (items.length < 2) return null
  const turn = (sorted: readonly string[]): string => (DOWN.test(text) ? sorted.toReversed() : sorted).join(', ')
  const right = turn(ordered(items))
  const slips = [
    { lesson: 'numeric-order', wrong: turn(items.toSorted()) },
    { lesson: 'keep-duplicates', wrong: turn([...new Set(ordered(items))]) },
  ] as const
  return { right, slips: slips.filter((slip) => slip.wrong !== right) }
}

function ordered(items: readonly string[]): readonly string[] {
  const isNumeric = items.every((item) => Number.isFinite(Number(item)))
  return isNumeric
    ? items.toSorted((a, b) => Number(a) - Number(b))
    : items.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
}
