/** Betting e-values: each bettor starts with one unit and stakes a fixed share of it on every difference in its favour. */

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
    return logMean(this.#logs.map((log) => ({ log, share: 1 / this.#logs.length })))
  }
}

/** The log of the mean of what bettors have, each with its share of the beginning. */
export function logMean(parts: readonly { readonly share: number; readonly log: number }[]): number {
  const top = Math.max(...parts.map(({ log }) => log))
  if (top === -Infinity) return top
  return top + Math.log(parts.reduce((sum, { share, log }) => sum + share * Math.exp(log - top), 0))
}
