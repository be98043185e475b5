/** Whether a candidate looks better after one round of the gate. */
import { describe, expect, it } from 'vitest'
import type { Pair, Task } from '../contract/index.ts'
import { gainAfterRound } from './looks-better.ts'

const task = (name: string, more: Partial<Task> = {}): Task => ({ name, prompt: name, role: 'gate', ...more })
const GATE = ['a', 'b', 'c', 'd'].map((name) => task(name))
const pair = (of: Task, current: number | null, candidate: number | null, repeat = 0): Pair => ({ task: of, repeat, current, candidate })
const round = (scores: readonly (readonly [number | null, number | null])[], tasks = GATE): readonly Pair[] =>
  scores.flatMap(([current, candidate], index) => {
    const of = tasks[index]
    return of === undefined ? [] : [pair(of, current, candidate)]
  })

describe('after a whole round', () => {
  it('is the mean difference, where that is above 0', () => {
    const better: [number, number] = [0, 1]
    const same: [number, number] = [1, 1]
    expect(gainAfterRound(round([better, same, same, same]), GATE)).toBeCloseTo(0.25)
    expect(gainAfterRound(round([same, same, same, same]), GATE)).toBeNull()
    expect(gainAfterRound(round([better, [1, 0], same, same]), GATE)).toBeNull()
  })

  it('counts a family once, however many tasks and repeats it has', () => {
    const family = ['a', 'b', 'c'].map((name) => task(name, { family: 'alike' }))
    const tasks = [...family, task('d')]
    const pairs = [...family.map((of) => pair(of, 0, 1)), pair(task('d'), 1, 0), pair(task('d'), 1, 0, 1)]
    expect(gainAfterRound(pairs, tasks)).toBeNull()
    expect(gainAfterRound([...pairs, pair(task('d'), 0, 1, 2), pair(task('d'), 0, 1, 3)], tasks)).toBeCloseTo(0.5)
  })

  it('does not take a family for a task of the same name', () => {
    const tasks = [task('x'), task('y', { family: 'x' })]
    expect(gainAfterRound([pair(task('x'), 0, 1)], tasks)).toBeNull()
  })

  it('counts a candidate without a score as 0, and a pair without the served side not at all', () => {
    expect(
      gainAfterRound(
        round([
          [1, null],
          [0, 1],
          [0, 0],
          [0, 0],
        ]),
        GATE,
      ),
    ).toBeNull()
    expect(
      gainAfterRound(
        round([
          [null, 1],
          [0, 1],
          [0, 1],
          [0, 1],
        ]),
        GATE,
      ),
    ).toBeNull()
  })

  it('cuts scores to 0 and 1, so that one of them does not decide', () => {
    expect(
      gainAfterRound(
        round([
          [0, 1e9],
          [1, 0],
          [1, 0],
          [0, 0],
        ]),
        GATE,
      ),
    ).toBeNull()
  })
})

it('is unknown before every family was compared, up to as many as a first round has', () => {
  expect(
    gainAfterRound(
      round([
        [0, 1],
        [0, 1],
        [0, 1],
      ]),
      GATE,
    ),
  ).toBeNull()
  expect(gainAfterRound([], [])).toBeNull()
  const many = Array.from({ length: 100 }, (_, n) => task(`t${n}`))
  const played = (count: number): readonly Pair[] => many.slice(0, count).map((of) => pair(of, 0, 1))
  expect(gainAfterRound(played(63), many)).toBeNull()
  expect(gainAfterRound(played(64), many)).toBe(1)
})

describe('what protects', () => {
  const won = round([
    [0, 1],
    [0, 1],
    [0, 1],
    [0, 1],
  ])

  it('a failed health task rules it out', () => {
    expect(gainAfterRound([...won, pair(task('h', { role: 'health' }), null, 0.5)], GATE)).toBeNull()
    expect(gainAfterRound([...won, pair(task('h', { role: 'health' }), null, 1)], GATE)).toBe(1)
  })

  it('so does a worse protected family; one that was not played says nothing', () => {
    const guard = task('g', { role: 'regression' })
    expect(gainAfterRound([...won, pair(guard, 1, 0), pair(guard, 0, 0, 1)], [...GATE, guard])).toBeNull()
    expect(gainAfterRound([...won, pair(guard, 1, 1)], [...GATE, guard])).toBe(1)
    expect(gainAfterRound(won, [...GATE, guard])).toBe(1)
  })
})
