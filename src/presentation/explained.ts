/** What the numbers of a decision mean, a sentence each, for a reader who has never seen one. */

export const EXPLAINED = {
  headline:
    'Each task is played with the change and as served, which is a pair. Improved: the pair scored higher with the change; worse: lower. "By luck" is how rarely a change without any effect would look this good.',
  score:
    'The mean score per episode, as served and with the change. An episode without a score counts as 0; most evaluators score from 0 to 1.',
  pairs: 'Pairs in which the change scored higher, lower, and the same.',
  before: 'The mean score of the task as served.',
  after: 'The mean score of the task with the change.',
  episode: 'What the evaluator gave this one episode.',
  episodes: 'An episode is one run of the agent on one task. Scores known from before were not played again.',
  spent:
    'What all model calls of this step took, of the proposer and of the episodes. Money needs prices: see evolution.prices. A call that could pass a cap is not sent.',
  improvement: 'What all steps since the release before took together, those that led to nothing included.',
} as const

/** The same words as behind the numbers, for those who cannot hover. */
export const MEANINGS = [
  ['Improved, worse', EXPLAINED.headline],
  ['Score', EXPLAINED.score],
  ['Won, lost, tied', EXPLAINED.pairs],
  ['Episodes', EXPLAINED.episodes],
  ['Tokens and cost', EXPLAINED.spent],
  ['Since the last release', EXPLAINED.improvement],
] as const
