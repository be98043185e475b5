/** What the gate compares where money or time counts too: scores less what the episodes took, at the rates of the configuration. */
import type { JsonObject } from '../contract/index.ts'
import { clamp } from '../kit/index.ts'

/** What one point of score is worth in an episode; null: it does not count. */
export interface GateObjective {
  readonly cost_per_point: number | null
  readonly seconds_per_point: number | null
}

/** What an episode took. */
export interface Took {
  /** Of the agent's calls; null where a price is not known. */
  readonly cost: number | null
  /** Until the agent ended. */
  readonly seconds: number
}

interface Played {
  readonly score: number | null
  readonly took: Took | null
}

export const weighs = ({ cost_per_point, seconds_per_point }: GateObjective): boolean =>
  cost_per_point !== null || seconds_per_point !== null

/** For rows, cache keys and names of cases: empty where nothing but the score counts. */
export const objectiveJson = (objective: GateObjective): JsonObject => (weighs(objective) ? { objective: { ...objective } } : {})

/** What a score is worth after what it took, in points; null where that is not known. */
export function worthOf({ cost_per_point, seconds_per_point }: GateObjective, { score, took }: Played): number | null {
  if (score === null || took === null) return null
  if (cost_per_point !== null && took.cost === null) return null
  const money = cost_per_point === null ? 0 : (took.cost ?? 0) / cost_per_point
  const time = seconds_per_point === null ? 0 : took.seconds / seconds_per_point
  return clamp(score, 0, 1) - money - time
}

/** By how much the candidate is ahead, from -1 to 1: the gate needs bounds, so what lies beyond counts as those. Null where it is not known. */
export function gainOf(objective: GateObjective, candidate: Played | undefined, current: Played | undefined): number | null {
  if (!weighs(objective) || candidate === undefined || current === undefined) return null
  const [after, before] = [worthOf(objective, candidate), worthOf(objective, current)]
  return after === null || before === null ? null : clamp(after - before, -1, 1)
}
