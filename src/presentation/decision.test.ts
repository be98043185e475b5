/** What a reviewer reads first, over rows of every kind. */
import { describe, expect, it } from 'vitest'
import { briefOf, playedEpisode, taskScoresOf, taskScoresSummary } from './decision.ts'

describe('a change in brief', () => {
  it('is the result, what changed, and what that may do', () => {
    const mutations = [
      { op: 'create', id: 'a' },
      { op: 'update', id: 'b' },
      { op: 'update', id: 'c' },
      { op: 'remove', id: 'd' },
    ]
    expect(briefOf({ wins: 10, losses: 0, ties: 4, mutations, powers: ['words'] })).toEqual([
      '10 of 14 improved, none worse.',
      'It adds 1 entry, changes 2 entries and removes 1 entry.',
      'Only words: it is plain text for the model.',
    ])
    const [, powers] = briefOf({ mutation: { op: 'remove', id: 'd' }, powers: ['words', 'runs'] })
    expect(powers).toMatch(/^This change may run programs/)
  })

  it('is nothing of a step that tried nothing, or of rows of any shape', () => {
    for (const metrics of [{}, { mutations: 'x' }, { mutations: [7, {}] }, { wins: 'three' }])
      expect(briefOf(metrics).join('')).not.toMatch(/undefined|NaN/)
    expect(briefOf({})).toEqual([])
  })
})

describe('both sides by task', () => {
  it('stand with what got worse first, each with its means', () => {
    const rows = taskScoresOf({
      task_scores: [
        { task: 'same', candidate: 1, current: 1, pairs: 2 },
        { task: 'new', candidate: 0.5, pairs: 1 },
        { task: 'up', candidate: 0.75, current: 0.25, pairs: 2 },
        { task: 'down', candidate: 0, current: 2 / 3, pairs: 3 },
      ],
    })
    expect(rows.map(({ task, before, after, word, tone }) => [task, before, after, word, tone])).toEqual([
      ['down', '0.667', '0', 'worse', 'bad'],
      ['up', '0.25', '0.75', 'better', 'good'],
      ['same', '1', '1', 'the same', 'plain'],
      ['new', null, '0.5', null, 'plain'],
    ])
    expect(taskScoresSummary(rows)).toBe('1 better, 1 worse, 1 the same')
  })

  it('say where an episode of each side can be read, also one that an earlier step played', () => {
    const task = { task: 'a', current_episode: 'shop/2/episodes/candidate-0', candidate_episode: 'shop/5-2/episodes/candidate-0' }
    expect(taskScoresOf({ task_scores: [task, { task: 'b', current_episode: 'nowhere' }] })).toMatchObject([
      {
        episodes: {
          before: { record: 'shop/2', folder: 'episodes/candidate-0' },
          after: { record: 'shop/5-2', folder: 'episodes/candidate-0' },
        },
      },
      { episodes: { before: null, after: null } },
    ])
  })

  it("have the agent's answer, the score and the evaluator's words; of earlier versions the output", () => {
    const file = { prompt: 'Say hello.', answer: 'hello', score: 1, stdout: 'noise', evaluation: { words: 'right' } }
    expect(playedEpisode(file)).toEqual({ prompt: 'Say hello.', answer: 'hello', score: '1', words: 'right' })
    expect(playedEpisode({ stdout: 'hello', score: null, failure: 'timed out' })).toEqual({
      prompt: '',
      answer: 'hello',
      score: 'no score',
      words: 'timed out',
    })
  })

  it('are none where a row has none, and take rows of any shape', () => {
    expect(taskScoresOf({})).toEqual([])
    expect(taskScoresOf({ task_scores: [null, 'x', {}] })).toMatchObject([{ task: 'unnamed', before: null, after: null, word: null }])
  })
})
