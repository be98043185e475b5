/** Alpha spending: the level of each decision, so that any fifty decisions in a row stay within alpha together. */
import { RECENT_DECISIONS, type SelectionHistory, type SumHistory } from '../../../src/contract/index.ts'

/** Much of alpha is for the first decisions. */
const FRONT = 0.418
/** Later ones all have the same, so that a long life does not run dry. */
const FLOOR = 0.0085

/** The level of the next decision. Recent selections earn some of it back. */
export function levelOf(alpha: number, { decided, selected, recent }: SelectionHistory): number {
  // Rows of earlier versions do not say when a change was selected.
  const remembered = recent ?? (decided <= RECENT_DECISIONS ? selected : 0)
  return alpha * Math.max(FLOOR, FRONT / (decided + 1) ** 2) * (remembered + 1)
}

/** The sum of 1 / n² over all n is below 1 / 0.6. */
const SUM_FRONT = 0.6

/**
 * The level of the next request that is judged together with those before it. Until one that is too much passes, all of those have failed: so all
 * of their levels add up to alpha at most, however many requests there are, and those that pass cost nothing.
 */
export const sumLevelOf = (alpha: number, { failed }: SumHistory): number => (alpha * SUM_FRONT) / (failed + 1) ** 2
