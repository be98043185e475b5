/** Tests that a candidate is better: adds pairs, decides, and says what to play next. */
import { chanceOf, Wealth } from '../../../src/kit/index.ts'
import { logEvidenceMax, logEvidenceOf, logReachOf, type FamilyTally } from './signs.ts'
import { reachOf, type Gain } from './wealth.ts'

export interface Terms {
  /** The number of each task's family, from 0. */
  readonly families: readonly number[]
  /** How much each family counts, up to 1; absent: all of them whole. */
  readonly shares?: readonly number[]
  readonly seed: string
  /** The probability that a candidate that is no better passes. */
  readonly level: number
  readonly pairsMax: number
  /** Where more than the score is bet on: the score alone must be shown to be worse by less than the margin. */
  readonly guard?: { readonly margin: number; readonly level: number }
}
/** `families`: too few to distinguish a gain from luck. */
export type StopReason = 'success' | 'futility' | 'budget' | 'families'

export interface PairDraw {
  readonly task: number
  /** The inverse of the family's relative probability; at most 2. */
  readonly weight: number
  readonly repeat: number
}

const STAKES = [0.15, 0.3, 0.5, 0.9]
/** The first round plays one task of each family in random order, up to this number. */
const FIRST_ROUND_MAX = 64
const BATCH_PAIRS = 4
const PAIRS_MIN = 20
/** How many pairs lie between two questions whether more of them could help the evidence over families. */
const FUTILITY_PAIRS = 16
/** With weights up to 2, a stake of one half never loses more than everything. */
export const WEIGHT_MAX = 2

export class Superiority {
  readonly #terms: Terms
  /** The tasks of each family. */
  readonly #members: readonly (readonly number[])[]
  /** The families of the first round, in order. */
  readonly #first: readonly number[]
  readonly #tallies: FamilyTally[]
  readonly #areTooFew: boolean
  readonly #wealth = new Wealth(STAKES)
  readonly #bets: Gain[] = []
  readonly #guardWealth = new Wealth(STAKES)
  readonly #guardBets: number[] = []
  #pairs = 0

  constructor(terms: Terms) {
    this.#terms = terms
    this.#members = membersOf(terms.families)
    this.#first = orderOf(terms.seed, this.#members.length).slice(0, FIRST_ROUND_MAX)
    const shares = this.#members.map((_, family) => terms.shares?.[family] ?? 1)
    this.#tallies = shares.map((share) => ({ draws: 0, sum: 0, squares: 0, isGraded: false, share }))
    this.#areTooFew = logEvidenceMax(shares) < this.thresholdFamilies
  }

  add(task: number, difference: number, weight: number, isGraded = false, scoreDifference = difference): void {
    const family = this.#terms.families[task] ?? 0
    const before = this.#tallies[family]
    if (before === undefined) return
    this.#tallies[family] = {
      ...before,
      draws: before.draws + 1,
      sum: before.sum + difference,
      squares: before.squares + difference ** 2,
      isGraded: before.isGraded || isGraded,
    }
    const weightMax = this.#pairs < this.#first.length && weight <= 1 ? 1 : WEIGHT_MAX
    this.#bet({ value: weight * difference, weightMax })
    this.#betOnScore(weight * (scoreDifference + (this.#terms.guard?.margin ?? 0)), weightMax)
    this.#pairs += 1
  }

  /** Null while there is more to play. The first round is not decided early: its tasks were drawn without replacement. */
  get stopped(): StopReason | null {
    const { pairsMax } = this.#terms
    if (this.#areTooFew) return 'families'
    if (this.#pairs < Math.min(this.#first.length, pairsMax)) return null
    if (this.logDraws >= this.threshold && this.logFamilies >= this.thresholdFamilies && this.#isHarmless) return 'success'
    if (this.#pairs >= pairsMax) return 'budget'
    return this.#pairs >= PAIRS_MIN && this.#hopeless ? 'futility' : null
  }

  /** A few at a time: they can be played concurrently, and later draws follow the results. */
  next(): readonly PairDraw[] {
    if (this.stopped !== null) return []
    const count = Math.min(BATCH_PAIRS, this.#terms.pairsMax - this.#pairs)
    if (this.#pairs < this.#first.length) {
      const waiting = this.#first.filter((family) => this.#tallies[family]?.draws === 0)
      return waiting.slice(0, count).map((family) => ({ task: memberAt(this.#members, family, 0), weight: 1, repeat: 0 }))
    }
    const chosen = choose(this.#terms.seed, this.#pairs, count, this.#tallies)
    return chosen.map(({ family, weight }, n) => {
      const repeat = (this.#tallies[family]?.draws ?? 0) + chosen.slice(0, n).filter((other) => other.family === family).length
      return { task: memberAt(this.#members, family, repeat), weight, repeat }
    })
  }

  get logDraws(): number {
    return this.#wealth.log
  }
  get logFamilies(): number {
    return logEvidenceOf(this.#tallies)
  }
  /** The evidence that the score alone is worse by less than the margin. */
  get logGuard(): number {
    return this.#guardWealth.log
  }
  /** The evidence that is further from its threshold, on the scale of the draws. */
  get log(): number {
    return Math.min(this.logDraws, this.logFamilies + this.threshold - this.thresholdFamilies)
  }
  get threshold(): number {
    return -Math.log(this.#terms.level)
  }
  get thresholdFamilies(): number {
    return thresholdOfFamilies(this.#terms.level)
  }
  get mean(): number {
    return this.#bets.reduce((sum, { value }) => sum + value, 0) / Math.max(1, this.#pairs)
  }
  get pairs(): number {
    return this.#pairs
  }
  get families(): number {
    return this.#members.length
  }
  get tallies(): readonly FamilyTally[] {
    return this.#tallies
  }
  /** What was bet on, pair by pair. */
  get bets(): readonly Gain[] {
    return this.#bets
  }

  #bet(gain: Gain): void {
    this.#bets.push(gain)
    this.#wealth.add(gain.value, 1 / gain.weightMax)
  }

  #betOnScore(gain: number, weightMax: number): void {
    if (this.#terms.guard === undefined) return
    this.#guardBets.push(gain)
    this.#guardWealth.add(gain, 1 / weightMax)
  }

  get #isHarmless(): boolean {
    const { guard } = this.#terms
    return guard === undefined || this.logGuard >= -Math.log(guard.level)
  }

  /** With the pairs that are left. */
  #reach(log: number, gains: readonly number[]): number {
    const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length
    const meanSquare = gains.reduce((sum, gain) => sum + gain ** 2, 0) / gains.length
    return reachOf({ log, gains: gains.length, mean, meanSquare, gainsLeft: this.#terms.pairsMax - this.#pairs })
  }

  get #hopeless(): boolean {
    const { pairsMax, guard } = this.#terms
    const gains = this.#bets.map(({ value }) => value)
    if (this.#reach(this.logDraws, gains) < this.threshold) return true
    if (guard !== undefined && this.#reach(this.logGuard, this.#guardBets) < -Math.log(guard.level)) return true
    if (this.#pairs % FUTILITY_PAIRS >= BATCH_PAIRS || this.logFamilies >= this.thresholdFamilies) return false
    return logReachOf(this.#tallies, pairsMax / this.families) < this.thresholdFamilies
  }
}

/** The evidence over families may be this much weaker: by simulation it is wrong two to eight times less often than its bound. */
const LIGHTER = 2
const thresholdOfFamilies = (level: number): number => -Math.log(LIGHTER * level)

/** How many more families of their own it takes to pass at this level. */
export function familiesMissing(level: number, shares: readonly number[]): number {
  const all = [...shares]
  while (logEvidenceMax(all) < thresholdOfFamilies(level)) all.push(1)
  return all.length - shares.length
}

function membersOf(families: readonly number[]): readonly (readonly number[])[] {
  const members: number[][] = Array.from({ length: Math.max(-1, ...families) + 1 }, () => [])
  for (const [task, family] of families.entries()) members[family]?.push(task)
  return members
}

/** All families in random order. */
function orderOf(seed: string, families: number): readonly number[] {
  const lots = Array.from({ length: families }, (_, family) => ({ family, lot: chanceOf(`${seed} order ${family}`) }))
  return lots.toSorted((a, b) => a.lot - b.lot).map(({ family }) => family)
}

/** Every member is as likely. The lot is the same in every step, so that scores of the served side are found again. */
function memberAt(members: readonly (readonly number[])[], family: number, repeat: number): number {
  const tasks = members[family] ?? []
  return tasks[Math.floor(chanceOf(`family ${family} ${repeat}`) * tasks.length)] ?? 0
}

interface ChosenFamily {
  readonly family: number
  readonly weight: number
}

/** Draws `count` families. Those whose sides differed, and unseen ones, are more likely; none is less than half as likely as uniform. */
function choose(seed: string, drawn: number, count: number, tallies: readonly FamilyTally[]): readonly ChosenFamily[] {
  const tellings = tallies.map(({ draws, squares, isGraded }) => (isGraded ? GRADED_TELLING : Math.sqrt((squares + 0.5) / (draws + 1))))
  const all = tellings.reduce((sum, telling) => sum + telling, 0)
  const chances = tellings.map((telling) => 0.5 / tallies.length + (0.5 * telling) / all)
  return Array.from({ length: count }, (_, n) => {
    const family = placeOf(chanceOf(`${seed} ${drawn + n}`), chances)
    return { family, weight: 1 / (tallies.length * (chances[family] ?? 1)) }
  })
}
/** A mean is judged without bias only where it does not decide how often it is taken. */
const GRADED_TELLING = 0.5

function placeOf(lot: number, chances: readonly number[]): number {
  let above = 0
  for (const [place, chance] of chances.entries()) {
    above += chance
    if (lot < above) return place
  }
  return chances.length - 1
}
