/** An anytime-valid confidence interval of the mean difference: all means that betting has not yet ruled out. */
import { Wealth } from './wealth.ts'

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
