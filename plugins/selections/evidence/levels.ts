/** Alpha spending: the level of each decision, so that any fifty decisions in a row stay within alpha together. */

/** Decisions that a false publication is counted over, and after which a publication no longer earns anything back. */
const WINDOW_DECISIONS = 50

/** Earlier decisions, and how many of them selected, of all and of the last fifty. */
export interface DecidedBefore {
  readonly decided: number
  readonly selected: number
  readonly recent?: number
}

/** Much of alpha is for the first decisions, which are the most. */
const FRONT = 0.285
const FLOOR = 0.6 / WINDOW_DECISIONS

/** The level of the next decision. Recent selections earn some of it back. */
export function levelOf(alpha: number, { decided, selected, recent }: DecidedBefore): number {
  // Rows of earlier versions do not say when a change was selected.
  const remembered = recent ?? (decided <= WINDOW_DECISIONS ? selected : 0)
  return alpha * shareOf(decided + 1) * (remembered + 1)
}

/** Falls to a constant, so that a long life does not run dry; no fifty in a row sum to more than 1. */
function shareOf(decision: number): number {
  const n = decision + 1
  return Math.max(FLOOR, FRONT / (n * Math.log(n) ** 2))
}
