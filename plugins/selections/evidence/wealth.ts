/** What players own who bet on every difference that it speaks for the candidate, each starting with one unit and staking a share of his own. */

export class Wealth {
  readonly #stakes: readonly number[]
  readonly #logs: number[]

  constructor(stakes: readonly number[]) {
    this.#stakes = stakes
    this.#logs = stakes.map(() => 0)
  }

  /** Nobody may lose more than he owns: `gain` is never below -1 / stakeMax. */
  add(gain: number, stakeMax: number): void {
    for (const [index, stake] of this.#stakes.entries())
      this.#logs[index] = (this.#logs[index] ?? 0) + Math.log1p(Math.min(stake, stakeMax) * gain)
  }

  /** The logarithm of what they own on average. Where the candidate gains nothing, that average is not expected to grow. */
  get log(): number {
    return logMean(this.#logs)
  }
}

export function logMean(logs: readonly number[]): number {
  const top = Math.max(...logs)
  if (top === -Infinity) return top
  return top + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - top), 0) / logs.length)
}

/** How far a bet is from its end, in what was seen of it. */
export interface Course {
  readonly log: number
  readonly gains: number
  readonly mean: number
  readonly meanSquare: number
  readonly gainsLeft: number
}

/** So many standard errors above what was seen, a gain is still thought possible. Lower ones end more steps early that would have been won. */
export const DOUBT = 3

/** The logarithm that could be reached with the gains that are left, were the true gain as large as what was seen still allows. */
export function reachOf({ log, gains, mean, meanSquare, gainsLeft }: Course): number {
  const square = Math.max(meanSquare, 1 / gains)
  const hoped = mean + DOUBT * Math.sqrt(square / gains)
  if (hoped <= 0) return log
  const stake = Math.min(STAKE_LONG, hoped / square)
  return log + gainsLeft * (stake * hoped - (stake ** 2 * square) / 2)
}
/** No stake above this is kept up for long. */
const STAKE_LONG = 0.5
