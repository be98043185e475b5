/** Betting e-values: each bettor starts with one unit and stakes a fixed share of it on every difference favouring the candidate. */

export class Wealth {
  readonly #stakes: readonly number[]
  readonly #logs: number[]

  constructor(stakes: readonly number[]) {
    this.#stakes = stakes
    this.#logs = stakes.map(() => 0)
  }

  /** `gain` is never below -1 / stakeMax, so that no bettor loses more than everything. */
  add(gain: number, stakeMax: number): void {
    for (const [index, stake] of this.#stakes.entries())
      this.#logs[index] = (this.#logs[index] ?? 0) + Math.log1p(Math.min(stake, stakeMax) * gain)
  }

  /** The log of the mean wealth, whose expectation does not grow when the candidate gains nothing. */
  get log(): number {
    return logMean(this.#logs)
  }
}

export function logMean(logs: readonly number[]): number {
  const top = Math.max(...logs)
  if (top === -Infinity) return top
  return top + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - top), 0) / logs.length)
}

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
