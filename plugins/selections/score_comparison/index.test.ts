import { describe, expect, it } from 'vitest'
import { selectionConformance } from '../../../conformance/index.ts'
import type { Question, Task } from '../../../src/contract/index.ts'
import comparison from './index.ts'

const task: Task = { name: 'sum', prompt: 'add', role: 'gate' }
type Scores = readonly (readonly [current: number | null, candidate: number | null])[]

async function decide(config: Record<string, number>, scores: Scores, last: Task = task): Promise<unknown> {
  const selection = await comparison.plugin.make(config)
  const taskAt = (at: number): Task => (at === scores.length - 1 ? last : task)
  const pairs = scores.map(([current, candidate], repeat) => ({ task: taskAt(repeat), repeat, current, candidate }))
  const history = { decided: 0, selected: 0 }
  const question: Question = { kind: 'traffic', tasks: [task], pairs, repeats: 1, episodesLeft: null, seed: '', history }
  return selection.decide(pairs, question)
}

describe('score_comparison', async () => {
  selectionConformance({ describe, it, selection: await comparison.plugin.make({}) })

  it('ranks no score below any score, and ties where both are missing', async () => {
    const scores: Scores = [
      [null, 0],
      [0.2, 0.4],
      [0, null],
      [null, null],
      [1, 1],
    ]
    expect(await decide({}, scores)).toMatchObject({ selected: true, metrics: { wins: 2, losses: 1, ties: 2, min_win_margin: 0 } })
  })

  it('selects nothing that loses a task of role regression', async () => {
    const scores: Scores = [
      [0, 1],
      [0, 1],
      [1, 0],
    ]
    expect(await decide({}, scores)).toMatchObject({ selected: true })
    expect(await decide({}, scores, { ...task, role: 'regression' })).toMatchObject({ selected: false })
  })

  it('asks for a lead above the margin', async () => {
    const two: Scores = [
      [0, 1],
      [0, 1],
    ]
    expect(await decide({ min_win_margin: 1 }, two)).toMatchObject({ selected: true })
    expect(await decide({ min_win_margin: 2 }, two)).toMatchObject({ selected: false })
  })

  it.each([-1, 'two', Number.NaN])('refuses a margin of %s', async (margin) => {
    await expect(async () => comparison.plugin.make({ min_win_margin: margin })).rejects.toMatchObject({ code: 'bad_setting' })
  })
})
