/** How far two lists of log-probabilities are apart, and what that means. In nats, on average per token. */

/** Engines and trainers round differently; an adapter that matters shows above this. */
export const NOISE = 0.01
/** Below this two answers are the same one. */
export const IDENTICAL = 1e-6
/** Quantised bases stay well within it. */
export const TOLERANCE = 0.25

/** The mean absolute difference; not a number when they are not of one length. */
export function distance(one: readonly number[], other: readonly number[]): number {
  if (one.length !== other.length) return Number.NaN
  return one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? Number.NaN)), 0) / one.length
}
