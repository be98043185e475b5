/** How far a test can still get, and the interval of its mean. */
import { Wealth } from '../../../src/kit/index.ts'

/** The course of a test so far. */
export interface Course {
  readonly log: number
  readonly gains: number
  readonly mean: number
  readonly meanSquare: number
  readonly gainsLeft: number
}

/** A gain is thought possible up to this many standard errors above the mean. A lower value stops more tests that would have passed. */
export const DOUBT = 3

/** The log wealth reachable with the remaining pairs under the largest plausible gain. */
export function reachOf({ log, gains, mean, meanSquare, gainsLeft }: Course): number {
  const square = Math.max(meanSquare, 1 / gains)
  const hoped = mean + DOUBT * Math.sqrt(square / gains)
  if (hoped <= 0) return log
  const stake = Math.min(STAKE_LONG, hoped / square)
  return log + gainsLeft * (stake * hoped - (stake ** 2 * square) / 2)
}
/** A larger stake is not sustainable. */
const STAKE_LONG = 0.5

export interface Gain {
  /** The difference times its weight. */
  readonly value: number
  /** The largest weight it could have had, which bounds the value. */
  readonly weightMax: number
}

const STAKES = [0.1, 0.3, 0.6, 0.95]
const STEP = 0.01

/** Misses the true mean with probability alpha at most, half of it on each side. */
export function intervalOf(gains: readonly Gain[], alpha: number): [number, number] {
  const low = lowestOf(gains, alpha / 2)
  const high = -lowestOf(
    gains.map(({ value, weightMax }) => ({ value: -value, weightMax })),
    alpha / 2,
  )
  return [Math.min(low, high), Math.max(low, high)]
}

function lowestOf(gains: readonly Gain[], level: number): number {
  const threshold = -Math.log(level)
  const means = Array.from({ length: Math.round(2 / STEP) }, (_, n) => (n - 1 / STEP) * STEP)
  const kept = means.find((mean) => logAgainst(mean, gains) < threshold) ?? 1
  return Math.max(-1, kept - STEP)
}

/** The log wealth of bets that the mean is above this one. */
function logAgainst(mean: number, gains: readonly Gain[]): number {
  const wealth = new Wealth(STAKES)
  for (const { value, weightMax } of gains) wealth.add(value - mean, 1 / Math.max(STEP, weightMax + mean))
  return wealth.log
}
