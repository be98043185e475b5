/**
 * Evidence by flipping. Where a coin decides for each family whether it gains or loses, the signs as they are seen are one of many that are as
 * likely: a change passes where few of those gain as much. That is exact for any sizes of the differences. It looks only now and then, and where
 * few pairs are played it finds more than bets, which may be looked at all the time.
 */
import type { FamilyTally } from './signs.ts'

/** It looks after this many pairs of each family in the mean, and when the budget of a step ends. */
const EACH = [2, 3, 4, 6, 8, 12, 16]
/** The flips that pass at all looks together. */
const PASSING = 20
const FLIPS_MAX = 40_000
/** Most of the level is spent once every family was played so often. */
const SPENT_AT = 2

/** The sums of all families after one of the looks. */
interface Look {
  readonly pairs: number
  readonly worths: readonly number[]
}

export class Flips {
  readonly #level: number
  readonly #seed: number
  readonly #at: ReadonlySet<number>
  readonly #looks: Look[] = []

  /** `ends`: the pairs after which the budget of earlier steps ended. */
  constructor(families: number, level: number, seed: number, ends: readonly number[]) {
    this.#level = level
    this.#seed = seed
    this.#at = new Set([...EACH.map((each) => each * families), ...ends])
  }

  /** Is called after every pair; `isEnd`: where the budget ends. */
  see(pairs: number, tallies: readonly FamilyTally[], isEnd: boolean): void {
    if ((isEnd || this.#at.has(pairs)) && this.#looks.at(-1)?.pairs !== pairs) this.#looks.push({ pairs, worths: tallies.map(worthOf) })
  }

  /** The pairs after which it looked. */
  get looks(): readonly number[] {
    return this.#looks.map(({ pairs }) => pairs)
  }

  /**
   * Under coins each flip is as likely to be the one that is seen, which is the first. At every look those that gain most pass, as many as the
   * level allows by then: so the one that is seen passes at any of the looks with a chance of at most the level.
   */
  get passes(): boolean {
    const flips = Math.min(FLIPS_MAX, Math.ceil(PASSING / this.#level))
    const passed = new Uint8Array(flips)
    let count = 0
    for (const { pairs, worths } of this.#looks) {
      const gains = gainsOf(worths, flips, this.#seed)
      const spent = 1 - Math.exp(-((pairs / (SPENT_AT * worths.length)) ** 2))
      const least = leastOf(gains, passed, Math.floor(spent * this.#level * flips) - count)
      for (const [flip, gain] of gains.entries()) {
        if (passed[flip] === 1 || gain < least) continue
        passed[flip] = 1
        count += 1
      }
      if (passed[0] === 1) return true
    }
    return false
  }
}

/** Between the mean and the sum: a family that was played more often tells more, and may be lucky as a whole. */
const worthOf = ({ sum, draws }: FamilyTally): number => (draws === 0 ? 0 : sum / Math.sqrt(draws))

/** What all families gain under each flip. */
function gainsOf(worths: readonly number[], flips: number, seed: number): Float64Array {
  const gains = new Float64Array(flips)
  for (const [family, worth] of worths.entries()) {
    if (worth === 0) continue
    const isUp = coinOf(seed, family)
    for (let flip = 0; flip < flips; flip += 1) gains[flip] = (gains[flip] ?? 0) + (flip === 0 || isUp() ? worth : -worth)
  }
  return gains
}

/** The same coins for a family at every look (mulberry32). */
function coinOf(seed: number, family: number): () => boolean {
  let state = Math.imul(seed ^ Math.imul(family + 1, 0x9e3779b1), 0x85ebca6b)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    const mixture = Math.imul(state ^ (state >>> 15), 1 | state)
    const again = (mixture + Math.imul(mixture ^ (mixture >>> 7), 61 | mixture)) ^ mixture
    return (again ^ (again >>> 14)) >= 0
  }
}

const ROUNDING = 1e-9

/** The least gain of the `room` highest that did not pass yet. Those that gain as much pass together or not at all. */
function leastOf(gains: Float64Array, passed: Uint8Array, room: number): number {
  if (room <= 0) return Infinity
  const waiting = gains
    .filter((_, flip) => passed[flip] === 0)
    .toSorted()
    .toReversed()
  const beyond = waiting[room] ?? -Infinity
  const least = waiting.slice(0, room).findLast((gain) => gain > beyond + ROUNDING)
  return least === undefined ? Infinity : least - ROUNDING
}
