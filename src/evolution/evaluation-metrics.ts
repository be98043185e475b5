/** What a row says of an evaluation: sums and means over its pairs, the first episodes, and what went wrong. */
import type { Json, JsonObject, Pair, Side } from '../contract/index.ts'
import { clamp, meanOf } from '../kit/index.ts'
import type { EpisodeResult } from './episodes.ts'
import type { EvaluationEnd } from './evaluate.ts'
import { isSeeded } from './luck.ts'
import { objectiveJson } from './objective.ts'
import type { StepRun } from './run.ts'
import { episodeOf, roundedMean, taskScoreMetrics } from './task-scores.ts'

/** How many of the candidate's episodes a row lists; the step's record has all. */
const LISTED_EPISODES_MAX = 8

/** Sums and means over the pairs, and the first episodes. A side that was not played is left out. */
export function evaluationMetrics({ episodes, context }: StepRun, pairs: readonly Pair[]): JsonObject {
  const results = episodes.results.filter(({ side }) => side !== 'trial')
  const listed = results.filter(({ side }) => side === 'candidate').slice(0, LISTED_EPISODES_MAX)
  const played = (side: Side): boolean => results.some((one) => one.side === side)
  return {
    ...(played('candidate') && { candidate_score: sumOf(pairs, 'candidate') }),
    ...(played('current') && { current_score: sumOf(pairs, 'current') }),
    ...meanMetrics(pairs, results),
    ...(!played('current') && played('candidate') && { evaluation_sides: ['candidate'] }),
    episode_failures: results.filter(({ score }) => score === null).length,
    ...repeatedMetrics(results),
    ...seededMetrics(results),
    ...objectiveJson(context.settings.objective),
    episode_repeats: context.settings.episode_repeats,
    episodes_used: episodes.used,
    episodes_cached: results.filter(({ cached, step }) => cached && step !== episodes.step).length,
    ...unsolvedMetrics(pairs),
    ...taskScoreMetrics(pairs, results),
    candidate_episodes: listed.map(briefly),
  }
}

/** What became of scores that earlier steps left. */
export function cacheMetrics(ends: readonly Pick<EvaluationEnd, 'flushed' | 'rechecked'>[]): JsonObject {
  const dropped = ends.flatMap(({ flushed }) => flushed)
  const again = ends.reduce((sum, { rechecked }) => sum + rechecked, 0)
  return { ...(dropped.length > 0 && { known_scores_dropped: dropped.join('; ') }), ...(again > 0 && { episodes_rechecked: again }) }
}

/** Episodes that the model or the evaluator failed at first. */
function repeatedMetrics(results: readonly EpisodeResult[]): JsonObject {
  const repeated = results.filter(({ troubles, cached }) => troubles > 0 && !cached).length
  return repeated === 0 ? {} : { episodes_repeated: repeated }
}

/** Episodes whose answered calls all had the seeds that both sides have. */
function seededMetrics(results: readonly EpisodeResult[]): JsonObject {
  const seeded = results.filter(({ seeds }) => isSeeded(seeds)).length
  return seeded === 0 ? {} : { episodes_seeded: seeded }
}

/** Tasks in which both sides scored 0 in every pair. Most likely the evaluator is wrong. */
function unsolvedMetrics(pairs: readonly Pair[]): JsonObject {
  const compared = pairs.filter(({ candidate, current }) => candidate !== null && current !== null)
  const solved = new Set(compared.flatMap(({ task, candidate, current }) => (candidate === 0 && current === 0 ? [] : [task.name])))
  const unsolved = [...new Set(compared.map(({ task }) => task.name))].filter((name) => !solved.has(name))
  return unsolved.length === 0 ? {} : { unsolved_tasks: unsolved.slice(0, UNSOLVED_MAX) }
}
const UNSOLVED_MAX = 50

const scoresOf = (pairs: readonly Pair[], side: Side): readonly number[] => pairs.map((pair) => pair[side] ?? 0)

/** A row holds finite numbers alone. */
const sumOf = (pairs: readonly Pair[], side: Side): number =>
  clamp(
    scoresOf(pairs, side).reduce((sum, score) => sum + score, 0),
    -Number.MAX_VALUE,
    Number.MAX_VALUE,
  )

/**
 * Both means are over the pairs that both sides played, so that they are comparable. Where only the candidate was played, the mean is over its
 * episodes. An episode without a score counts as 0, as in the sums.
 */
function meanMetrics(pairs: readonly Pair[], results: readonly EpisodeResult[]): JsonObject {
  const played = new Set(results.map(({ side, task, repeat }) => episodeOf(side, task.name, repeat)))
  const by = (side: Side, among: readonly Pair[]): readonly Pair[] =>
    among.filter(({ task, repeat }) => played.has(episodeOf(side, task.name, repeat)))
  const alone = by('candidate', pairs)
  const both = by('current', alone)
  if (both.length > 0)
    return {
      candidate_mean_score: meanOf(scoresOf(both, 'candidate')),
      current_mean_score: meanOf(scoresOf(both, 'current')),
      ...tookMetrics('candidate', both, results),
      ...tookMetrics('current', both, results),
    }
  return alone.length > 0 ? { candidate_mean_score: meanOf(scoresOf(alone, 'candidate')), ...tookMetrics('candidate', alone, results) } : {}
}

/** Means of what the side's episodes of these pairs took. Without the cost where one of them has no price. */
function tookMetrics(side: Side, pairs: readonly Pair[], results: readonly EpisodeResult[]): JsonObject {
  const wanted = new Set(pairs.map(({ task, repeat }) => episodeOf(side, task.name, repeat)))
  // Of one that was played again the last counts.
  const byEpisode = new Map(results.map(({ side: of, task, repeat, took }) => [episodeOf(of, task.name, repeat), took]))
  const took = [...wanted].map((episode) => byEpisode.get(episode) ?? null).filter((one) => one !== null)
  if (took.length === 0 || took.length < wanted.size) return {}
  const costs = took.map(({ cost }) => cost).filter((cost) => cost !== null)
  return {
    [`${side}_mean_seconds`]: roundedMean(took.map(({ seconds }) => seconds)),
    ...(costs.length === took.length && { [`${side}_mean_cost`]: roundedMean(costs) }),
  }
}

/** A mean of many has digits of no meaning. */
const briefly = ({ task, repeat, score, failure, note }: EpisodeResult): Json => ({
  task: task.name,
  score,
  ...(repeat > 0 && { repeat }),
  ...(failure !== null && { failure }),
  ...(note !== null && { evaluation: note.words }),
})
