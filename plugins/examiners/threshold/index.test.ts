import { describe, expect, it } from 'vitest'
import { examinerConformance, saying, simulatedCandidate } from '../../../conformance/index.ts'
import type { Examination, JsonObject } from '../../../src/contract/index.ts'
import threshold from './index.ts'

const tasks = [
  { prompt: 'Capital of France?', answer: 'Paris' },
  { prompt: 'Two and two?', answer: 'four' },
]

/** With the answer of either side to every prompt. */
async function examined(config: JsonObject, candidate: string, current: string): Promise<Examination> {
  const examiner = await threshold.plugin.make({ tasks, ...config })
  return examiner.examine(simulatedCandidate(saying(candidate), saying(current)), new AbortController().signal)
}

const noting = (side: JsonObject[]) => async (body: JsonObject) => {
  side.push(body)
  return {}
}

describe('threshold', async () => {
  examinerConformance({ describe, it, examiner: await threshold.plugin.make({ tasks }) })

  it('selects a candidate that is as good as what is served, and reports both scores', async () => {
    const metrics = { candidate_score: 0.5, current_score: 0.5, evaluation_task_count: 2 }
    expect(await examined({}, 'It is  PARIS.', 'paris')).toEqual({ select: true, metrics })
  })

  it.each<readonly [string, JsonObject, string, string, boolean]>([
    ['below what is served', {}, 'none', 'Paris', false],
    ['below it by no more than the margin', { margin: 0.5 }, 'none', 'Paris', true],
    ['below it by more than the margin', { margin: 0.4 }, 'none', 'Paris', false],
    ['above it and below the floor', { floor: 0.6 }, 'Paris', 'none', false],
    ['on the floor', { floor: 0.5 }, 'Paris', 'none', true],
    ['right in other words, where they must be exact', { match: 'exact', floor: 0.5 }, 'It is Paris.', 'none', false],
    ['exactly right', { match: 'exact', floor: 0.5 }, ' paris\n', 'none', true],
  ])('decides on a candidate %s', async (_what, config, candidate, current, select) => {
    expect((await examined(config, candidate, current)).select).toBe(select)
  })

  it('does not ask what is served where it is not compared', async () => {
    const examiner = await threshold.plugin.make({ tasks, against_current: false })
    const candidate = simulatedCandidate(saying('Paris'), () => Promise.reject(new Error('not asked')))
    const { metrics } = await examiner.examine(candidate, new AbortController().signal)
    expect(metrics).toEqual({ candidate_score: 0.5, evaluation_task_count: 2 })
  })

  it('asks every task as often as configured, with a new seed each time and the same on both sides', async () => {
    const examiner = await threshold.plugin.make({ tasks, repeats: 3, temperature: 0.7, max_tokens: 9 })
    const asked: { readonly candidate: JsonObject[]; readonly current: JsonObject[] } = { candidate: [], current: [] }
    await examiner.examine(simulatedCandidate(noting(asked.candidate), noting(asked.current)), new AbortController().signal)
    expect(asked.candidate.map(({ seed }) => seed)).toEqual([0, 1, 2, 0, 1, 2])
    expect(asked.candidate[0]).toEqual({
      messages: [{ role: 'user', content: 'Capital of France?' }],
      temperature: 0.7,
      max_tokens: 9,
      seed: 0,
    })
    expect(asked.current).toEqual(asked.candidate)
  })

  it.each<readonly [string, JsonObject, string]>([
    ['no tasks', {}, 'training.examiner_config.tasks: must be a list'],
    ['an empty list', { tasks: [] }, 'training.examiner_config.tasks: must hold at least one'],
    ['a blank answer', { tasks: [{ prompt: 'x', answer: ' ' }] }, 'training.examiner_config.tasks.0.answer: must be text'],
    ['a floor above 1', { tasks, floor: 2 }, 'training.examiner_config.floor: must be at most 1'],
    ['a misspelt setting', { tasks, flour: 1 }, 'training.examiner_config: holds an unknown setting'],
  ])('refuses %s', async (_what, config, words) => {
    await expect(async () => threshold.plugin.make(config)).rejects.toThrow(words)
  })
})
