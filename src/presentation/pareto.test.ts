/** Which of what was tried nothing else beats, by score, money and time. */
import { expect, it } from 'vitest'
import type { MovableRow } from './chain.ts'
import { paretoOf } from './pareto.ts'

type Means = readonly [score: number, cost?: number, seconds?: number]

const meansOf = (side: 'candidate' | 'current', [score, cost, seconds]: Means) => ({
  [`${side}_mean_score`]: score,
  ...(cost !== undefined && { [`${side}_mean_cost`]: cost }),
  ...(seconds !== undefined && { [`${side}_mean_seconds`]: seconds }),
})

const tried = (step: number, candidate: Means, more: Partial<MovableRow> = {}): MovableRow => ({
  step,
  recorded_at: 1_794_757_869 + step,
  operation: 'train',
  result: 'rejected',
  pending: false,
  release_id: `r${step}`,
  content_id: `c${step}`,
  restorable: true,
  current: false,
  metrics: meansOf('candidate', candidate),
  ...more,
})
const start: MovableRow = { ...tried(0, [0]), operation: 'create', result: 'published', metrics: {} }
const frontierOf = (rows: readonly MovableRow[]) => paretoOf(rows).flatMap(({ isOnFrontier, row }) => (isOnFrontier ? [row.step] : []))

it('leaves out what another beats in one and matches in the others', () => {
  const rows = [tried(1, [0.9, 2, 10]), tried(2, [0.8, 1, 10]), tried(3, [0.8, 2, 10]), tried(4, [0.1, 3, 1]), tried(5, [0.9, 2, 11])]
  expect(frontierOf(rows)).toEqual([1, 2, 4])
})

it('keeps two that are equal, and what cannot be compared', () => {
  expect(frontierOf([tried(1, [0.5, 1, 1]), tried(2, [0.5, 1, 1])])).toEqual([1, 2])
  expect(frontierOf([tried(1, [0.9, 1, 1]), tried(2, [0.5])])).toEqual([1, 2])
})

it('compares by what both have, where nothing has a price', () => {
  expect(frontierOf([tried(1, [0.9]), tried(2, [0.5])])).toEqual([1])
})

it('begins with what the first change was compared with, and marks what is served', () => {
  const published = tried(2, [0.9, 2], { result: 'published', current: true })
  const metrics = { ...meansOf('candidate', [0.4, 1]), ...meansOf('current', [0.6, 1]) }
  const points = paretoOf([published, tried(1, [0.4, 1], { metrics, release_id: 'r0', content_id: 'c0' }), start])
  expect(points.map(({ row, score, outcome, isServed, isOnFrontier }) => [row.step, score, outcome, isServed, isOnFrontier])).toEqual([
    [2, 0.9, 'Published', true, true],
    [0, 0.6, 'Starting point', false, true],
    [1, 0.4, 'Rejected', false, false],
  ])
})

it('takes what is no number for unknown, and steps that played nothing for none', () => {
  const odd = tried(1, [0.5], { metrics: { candidate_mean_score: 0.5, candidate_mean_cost: 'much', candidate_mean_seconds: Infinity } })
  expect(paretoOf([odd, tried(2, [0], { metrics: { skipped: 'nothing to do' } })])).toMatchObject([
    { score: 0.5, cost: null, seconds: null },
  ])
})
