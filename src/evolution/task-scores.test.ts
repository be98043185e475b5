import { expect, it } from 'vitest'
import { taskScoreMetrics } from './task-scores.ts'
import { stepOf } from './testing/bench.ts'

const pair = (name: string, more: { family?: string }) => ({
  task: { name, prompt: 'p', role: 'train' as const, ...more },
  repeat: 0,
  candidate: 1,
  current: 0,
})

it('names the family of a task that has one', () => {
  expect(taskScoreMetrics([pair('a', { family: 'sums' }), pair('b', {})], [])).toEqual({
    task_scores: [
      { task: 'a', family: 'sums', pairs: 1, candidate: 1, current: 0 },
      { task: 'b', pairs: 1, candidate: 1, current: 0 },
    ],
  })
})

it('is a number also of scores whose sum is none', () => {
  const pairs = [0, 1].map((repeat) => ({ ...pair('a', {}), repeat, candidate: 1e308, current: -1e308 }))
  expect(taskScoreMetrics(pairs, [])).toEqual({ task_scores: [{ task: 'a', pairs: 2, candidate: 1e308, current: -1e308 }] })
})

it('is a number in the row of a step too, and so are the sums', async () => {
  const { metrics } = await stepOf({ evaluator: { score: async () => 1e308 } })
  expect(metrics).toMatchObject({ candidate_mean_score: 1e308, current_mean_score: 1e308, candidate_score: Number.MAX_VALUE })
})
