import { expect, it } from 'vitest'
import { runningView } from './running.ts'

const EPISODE = {
  at: 5,
  side: 'candidate',
  task: 'vat',
  repeat: 1,
  score: 0.5,
  words: 'close',
  seconds: 12,
  input_tokens: 900,
  output_tokens: 30,
  cost: null,
  transcript: 'episodes/candidate-0-1',
} as const
const STEP = { episodes_total: 40, episodes_played: 2, input_tokens: 1800, output_tokens: 60, cost: 0.5, seconds_left: 190, episodes: [] }

it('says how far a running step is, what it took, and its newest episode first', () => {
  const none = { ...EPISODE, side: 'current', repeat: 0, score: null, words: null, input_tokens: 0, output_tokens: 0 } as const
  expect(runningView({ ...STEP, episodes: [EPISODE, none] })).toEqual({
    progress: '2 episodes, at most 40',
    left: 'at most 3 min left',
    spent: '1,800 tokens in, 60 out, cost 0.50',
    episodes: [
      { at: 5, task: 'vat', side: 'as served', score: 'no score', isBad: true, words: null, took: '12 s', transcript: none.transcript },
      {
        at: 5,
        task: 'vat (2)',
        side: 'with the change',
        score: '0.5',
        isBad: false,
        words: 'close',
        took: '12 s, 900 tokens in, 30 out, cost unknown',
        transcript: EPISODE.transcript,
      },
    ],
  })
})

it('claims nothing before the first episode', () => {
  const begun = { ...STEP, episodes_total: null, episodes_played: 0, input_tokens: 0, output_tokens: 0, seconds_left: null }
  expect(runningView(begun)).toEqual({ progress: null, left: null, spent: null, episodes: [] })
  expect(runningView({ ...begun, episodes_total: 4 }).progress).toBe('at most 4 episodes')
})
