/** Scores that an objective can compute with, alone and by group. */
import type { JsonObject, Rollout } from '../../../src/contract/index.ts'
import { meanOf } from '../../../src/kit/index.ts'

export interface Scored {
  readonly at: number
  readonly score: number
}

/** Sums of larger scores would lose precision. */
const SCORE_MAX = 1e15
/** Scores that differ by less than this part of their size differ by rounding. */
const ROUNDING = 1e-9

export interface Groups {
  readonly all: readonly (readonly Scored[])[]
  /** Those whose scores differ. */
  readonly telling: readonly (readonly Scored[])[]
  readonly metrics: JsonObject
}

/** Rollouts without a group or a score are in none. */
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

export function scoredIn(rollouts: readonly Rollout[]): readonly Scored[] {
  return rollouts.flatMap(({ score }, at) => (score !== null && Math.abs(score) <= SCORE_MAX ? [{ at, score }] : []))
}

/** All scores are equal, apart from rounding. */
export function isConstant(members: readonly Scored[]): boolean {
  const scores = members.map(({ score }) => score)
  const [lowest, highest] = [smallest(scores), largest(scores)]
  return members.length < 2 || highest - lowest <= ROUNDING * Math.max(Math.abs(lowest), Math.abs(highest))
}

/** Of a batch of any length, which `Math.max(...)` could not take. */
export const largest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), -Infinity)
export const smallest = (values: readonly number[]): number => values.reduce((least, value) => Math.min(least, value), Infinity)
