/** What is decided where money or time counts besides the score. */
import { expect, it } from 'vitest'
import type { Pair, Question, Task } from '../../../src/contract/index.ts'
import evidence from './index.ts'
import { randomOf } from './testing.ts'

const selection = await evidence.plugin.make({})
const tasksOf = (role: Task['role'], count: number): readonly Task[] =>
  Array.from({ length: count }, (_, n) => ({ name: `${role}-${n}`, prompt: 'do it', role }))

/** `saved`: what the candidate takes less, in points. */
function decided(
  tasks: readonly Task[],
  play: (task: Task) => { readonly candidate: number; readonly current: number; readonly saved: number },
) {
  const pairs: Pair[] = []
  const question = (): Question => ({
    kind: 'traffic',
    tasks,
    pairs,
    repeats: 1,
    episodesLeft: 600 - 2 * pairs.length,
    seed: 'step-1',
    history: { decided: 0, selected: 0 },
  })
  for (let draws = selection.next?.(question()) ?? []; draws.length > 0; draws = selection.next?.(question()) ?? [])
    for (const { task: name, repeat, weight } of draws) {
      const task = tasks.find((one) => one.name === name)
      if (task === undefined) throw new Error(`there is no task ${name}`)
      const { saved, ...scores } = play(task)
      const gain = scores.candidate - scores.current + saved
      pairs.push({ task, repeat, ...scores, gain, ...(weight !== undefined && { weight }) })
    }
  return { ...selection.decide(pairs, question()), pairs }
}

const GATE = tasksOf('gate', 20)

it('a change that does as well and takes less is better, and its score is shown to be no worse', () => {
  const { selected, reason, metrics } = decided(GATE, () => ({ candidate: 1, current: 1, saved: 0.3 }))
  expect(selected).toBe(true)
  expect(reason).toMatch(
    /^by score against what it takes better on 20 of 20 tasks.*; at most 0\.1 worse in score alone: the evidence is strong/,
  )
  expect(metrics?.['evidence']).toMatchObject({ mean_difference: 0.3, margin: 0.1, e_value_score: expect.any(Number) })
})

it('a change that takes less never buys a score that is worse by more than the margin', () => {
  const random = randomOf(1)
  const { selected } = decided(GATE, () => ({ candidate: random() < 0.7 ? 1 : 0, current: 1, saved: 0.9 }))
  expect(selected).toBe(false)
})

it('a change that scores more and takes more than that is worth is not better', () => {
  expect(decided(GATE, () => ({ candidate: 1, current: 0.5, saved: -0.6 })).selected).toBe(false)
  expect(decided(GATE, () => ({ candidate: 1, current: 0.5, saved: -0.1 })).selected).toBe(true)
})

const harmful = (task: Task) => ({ candidate: task.role === 'gate' ? 1 : 0, current: task.role === 'gate' ? 0 : 1, saved: 0.9 })

it('what is saved counts for nothing on protected tasks', () => {
  const tasks = [...GATE, ...tasksOf('regression', 4)]
  expect(decided(tasks, harmful).selected).toBe(false)
})
