import { describe, expect, it } from 'vitest'
import { meanScores, scoreText } from './scores.ts'

describe('the scores of a step', () => {
  it.each([
    [
      'are those that the row has as means, whatever its sums are',
      { candidate_score: 9, current_score: 3, candidate_mean_score: 0.5, current_mean_score: 0.25, wins: 3, losses: 1, ties: 8 },
      [0.5, 0.25],
    ],
    [
      'are sums over the pairs where a row has sums alone',
      { candidate_score: 12, current_score: 4, wins: 9, losses: 1, ties: 6 },
      [0.75, 0.25],
    ],
    [
      'count the pairs that were played to see that nothing got worse',
      { candidate_score: 8, current_score: 4, wins: 4, losses: 0, ties: 0, evidence_regression: { pairs: 4 } },
      [1, 0.5],
    ],
    ['of one side alone say nothing of the other', { candidate_score: 3, passed: 3, failed: 1 }, [0.75, null]],
    [
      'go by tasks and repeats where no pair was counted',
      { candidate_score: 4, evaluation_task_count: 4, episode_repeats: 2 },
      [0.5, null],
    ],
    ['stay sums in a row that does not say how much was played', { candidate_score: 0.9, current_score: 0.5 }, [0.9, 0.5]],
  ])('%s', (_, metrics, [candidate, current]) => {
    expect(meanScores(metrics)).toEqual({ candidate, current })
  })

  it.each([{}, { wins: 2 }, { candidate_score: 'many', wins: 2 }, { candidate_score: Number.NaN, ties: 1 }, { candidate_score: null }])(
    'are none in %j',
    (metrics) => expect(meanScores(metrics)).toBeNull(),
  )

  it.each([
    { candidate_score: 1, wins: -5, losses: 'x', evidence_regression: 'none' },
    { candidate_score: 1, passed: 0, failed: 0, evaluation_task_count: 0, episode_repeats: 0 },
    { candidate_score: 1, wins: 1, evidence_regression: null },
  ])('never divide by what is no count: %j', (metrics) => expect(meanScores(metrics)).toEqual({ candidate: 1, current: null }))
})

it.each([
  [0, '0'],
  [-0, '0'],
  [1, '1'],
  [0.75, '0.75'],
  [2 / 3, '0.667'],
  [-0.25, '-0.25'],
  [0.00004, '4e-5'],
  [12_345.6789, '12345.679'],
])('a score of %d reads %s', (score, text) => expect(scoreText(score)).toBe(text))
