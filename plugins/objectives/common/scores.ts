/** Scores as an objective may reckon with them, alone and by group. */
import type { JsonObject, Rollout } from '../../../src/contract/index.ts'

/** Where a scored rollout stands in its batch. */
export interface Scored {
  readonly at: number
  readonly score: number
}

/** Sums of what is larger would lose what they are made of. */
const SCORE_MAX = 1e15
/** Scores that differ by less than this part of their size differ by rounding. */
const ROUNDING = 1e-9

export interface Groups {
  readonly all: readonly (readonly Scored[])[]
  /** Those whose scores differ. */
  readonly telling: readonly (readonly Scored[])[]
  readonly metrics: JsonObject
}

/** Whoever names no group, or has no score, is in none. */
export function groupsIn(rollouts: readonly Rollout[]): Groups {
  const scored = scoredIn(rollouts)
  const groups = Map.groupBy(scored, ({ at }) => rollouts[at]?.group ?? null)
  const all = [...groups].flatMap(([group, members]) => (group === null ? [] : [members]))
  const telling = all.filter((members) => !isConstant(members))
  const metrics = {
    groups: all.length,
    constant_groups: all.length - telling.length,
    samples_without_group: rollouts.filter(({ group }) => group === null).length,
    samples_without_score: rollouts.length - scored.length,
    mean_score: meanOf(scored.map(({ score }) => score)),
  }
  return { all, telling, metrics }
}

/** Those that have a score one can reckon with. */
export function scoredIn(rollouts: readonly Rollout[]): readonly Scored[] {
  return rollouts.flatMap(({ score }, at) => (score !== null && Math.abs(score) <= SCORE_MAX ? [{ at, score }] : []))
}

/** Nobody did better than anybody: there is nothing to tell apart. */
export function isConstant(members: readonly Scored[]): boolean {
  const scores = members.map(({ score }) => score)
  const [lowest, highest] = [smallest(scores), largest(scores)]
  return members.length < 2 || highest - lowest <= ROUNDING * Math.max(Math.abs(lowest), Math.abs(highest))
}

/** Of a batch of any length: as arguments they would not all fit. */
export const largest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), -Infinity)
export const smallest = (values: readonly number[]): number => values.reduce((least, value) => Math.min(least, value), Infinity)

/** 0 of nothing. */
export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
