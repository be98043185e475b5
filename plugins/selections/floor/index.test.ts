import { describe, expect, it } from 'vitest'
import { playSelection, selectionConformance } from '../../../conformance/index.ts'
import type { Question, Task } from '../../../src/contract/index.ts'
import floor from './index.ts'

const tasks: readonly Task[] = ['sum', 'sort'].map((name) => ({ name, prompt: name, role: 'gate' }))
const history = { decided: 0, selected: 0 }
const question: Question = { kind: 'traffic', tasks, pairs: [], repeats: 2, episodesLeft: null, seed: '', history }

describe('floor', async () => {
  const selection = await floor.plugin.make({})
  selectionConformance({ describe, it, selection, compares: false })

  it('plays the candidate alone, every task as often as asked, and selects it when all reach the floor', () => {
    const { pairs, decision } = playSelection(selection, question, (_, side) => (side === 'candidate' ? 1 : 0))
    expect(pairs.map(({ task, repeat, current }) => [task.name, repeat, current])).toEqual([
      ['sum', 0, null],
      ['sum', 1, null],
      ['sort', 0, null],
      ['sort', 1, null],
    ])
    expect(decision).toMatchObject({ selected: true, metrics: { passed: 4, failed: 0, floor_score: 1, evaluation_sides: ['candidate'] } })
  })

  it.each([
    ['below the floor', 0.4],
    ['missing', null],
  ])('rejects a candidate with one score %s', async (_what, score) => {
    const lower = await floor.plugin.make({ floor_score: 0.5 })
    const { decision } = playSelection(lower, question, ({ name }, _, repeat) => (name === 'sort' && repeat === 1 ? score : 0.5))
    expect(decision).toMatchObject({ selected: false, metrics: { passed: 3, failed: 1, floor_score: 0.5 } })
  })

  it('rejects a candidate that was not played on everything, however well it did', () => {
    const [task] = tasks
    const pairs = task === undefined ? [] : [{ task, repeat: 0, current: null, candidate: 1 }]
    expect(selection.decide(pairs, question)).toMatchObject({ selected: false, reason: '1 of 1 scored 1 or more, and 3 were not played' })
  })

  it('refuses a floor that is no number', async () => {
    await expect(async () => floor.plugin.make({ floor_score: 'high' })).rejects.toMatchObject({ code: 'bad_setting' })
  })
})
