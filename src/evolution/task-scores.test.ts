import { expect, it } from 'vitest'
import { taskScoreMetrics } from './task-scores.ts'

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
