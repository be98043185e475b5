/** Both sides of a step task by task: their means, and where an episode of each can be read. */
import type { JsonObject, Pair, Side } from '../contract/index.ts'
import { meanOf } from '../kit/index.ts'
import type { EpisodeResult } from './episodes.ts'

/** A row lists no more tasks. */
const TASK_SCORES_MAX = 100

/** The means of both sides by task. A side that was not played is left out; an episode that was and has no score counts as 0, as in the sums. */
export function taskScoreMetrics(pairs: readonly Pair[], results: readonly EpisodeResult[]): JsonObject {
  const played = new Set(results.map(({ side, task, repeat }) => episodeOf(side, task.name, repeat)))
  const meanIn = (side: Side, own: readonly Pair[]): JsonObject => {
    // Pairs of earlier steps have their scores alone.
    const known = own.filter(({ task, repeat, [side]: score }) => score !== null || played.has(episodeOf(side, task.name, repeat)))
    return known.length === 0 ? {} : { [side]: roundedMean(known.map(({ [side]: score }) => score ?? 0)) }
  }
  const byTask = [...Map.groupBy(pairs, ({ task }) => task.name)].slice(0, TASK_SCORES_MAX)
  const rows = byTask.map(([task, own]) => ({
    task,
    ...familyIn(own),
    pairs: own.length,
    ...meanIn('candidate', own),
    ...meanIn('current', own),
    ...recordedIn(results.filter((each) => each.task.name === task)),
  }))
  return rows.length === 0 ? {} : { task_scores: rows }
}

const familyIn = (own: readonly Pair[]): JsonObject => {
  const family = own[0]?.task.family
  return family === undefined ? {} : { family }
}

/** Where an episode of each side can be read; of the same repeat where both sides have one. */
function recordedIn(results: readonly EpisodeResult[]): JsonObject {
  const kept = results.filter(({ place }) => place !== null)
  const placesIn = (side: Side): ReadonlyMap<number, string | null> =>
    new Map(kept.filter((each) => each.side === side).map(({ repeat, place }) => [repeat, place]))
  const [candidate, current] = [placesIn('candidate'), placesIn('current')]
  const repeat = [...candidate.keys()].find((each) => current.has(each))
  const [after, before] = [candidate, current].map((places) => places.get(repeat ?? -1) ?? [...places.values()][0])
  return { ...(after != null && { candidate_episode: after }), ...(before != null && { current_episode: before }) }
}

export const roundedMean = (values: readonly number[]): number => Number(meanOf(values).toPrecision(MEAN_DIGITS))
const MEAN_DIGITS = 6

export const episodeOf = (side: string, task: string, repeat: number): string => `${side} ${repeat} ${task}`
