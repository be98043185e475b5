/** Tests that a candidate is not worse than a margin on protected tasks, which are played in whole rounds. */
import { Wealth } from '../../../src/kit/index.ts'
import { reachOf } from './wealth.ts'
import { PAIRS_MAX } from './stage.ts'
import type { StopReason, PairDraw } from './superiority.ts'

export interface GuardTerms {
  readonly tasks: number
  readonly margin: number
  /** The probability that a candidate worse by the margin passes. */
  readonly level: number
  readonly pairsMax: number
}

const STAKES = [0.3, 0.95]
const BATCH_PAIRS = 4
const PAIRS_MIN = 20

export class NonInferiority {
  readonly #terms: GuardTerms
  readonly #played: number[][]

  constructor(terms: GuardTerms) {
    this.#terms = terms
    this.#played = Array.from({ length: terms.tasks }, () => [])
  }

  add(task: number, difference: number): void {
    this.#played[task]?.push(difference)
  }

  /** Decides between rounds only: within one, the remaining tasks differ from those played. */
  get stopped(): StopReason | null {
    const { tasks, pairsMax } = this.#terms
    const roundOver = this.pairs === this.#rounds * tasks
    if (!roundOver && this.pairs < pairsMax) return null
    if (this.log >= this.threshold) return 'success'
    if (pairsMax - this.pairs < tasks) return 'budget'
    return this.pairs >= PAIRS_MIN && this.#hopeless ? 'futility' : null
  }

  next(): readonly PairDraw[] {
    if (this.stopped !== null) return []
    const rounds = this.#rounds
    const waiting = [...this.#played.keys()].filter((task) => this.#played[task]?.length === rounds)
    return waiting.slice(0, BATCH_PAIRS).map((task) => ({ task, weight: 1, repeat: rounds }))
  }

  get log(): number {
    const wealth = new Wealth(STAKES)
    for (const difference of this.differences) wealth.add(difference + this.#terms.margin, 1)
    return wealth.log
  }
  get threshold(): number {
    return -Math.log(this.#terms.level)
  }
  get pairs(): number {
    return this.#played.reduce((sum, { length }) => sum + length, 0)
  }
  /** Of completed rounds. */
  get differences(): readonly number[] {
    return this.#played.flatMap((differences) => differences.slice(0, this.#rounds))
  }

  get #rounds(): number {
    return Math.min(...this.#played.map(({ length }) => length))
  }

  get #hopeless(): boolean {
    const gains = this.differences.map((difference) => difference + this.#terms.margin)
    const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length
    const meanSquare = gains.reduce((sum, gain) => sum + gain ** 2, 0) / gains.length
    const gainsLeft = this.#terms.pairsMax - gains.length
    return reachOf({ log: this.log, gains: gains.length, mean, meanSquare, gainsLeft }) < this.threshold
  }
}

/** The fewest pairs that can pass, if all are ties, in whole rounds; Infinity where no test is as long. */
export function pairsNeeded({ tasks, margin, level }: Omit<GuardTerms, 'pairsMax'>): number {
  const wealth = new Wealth(STAKES)
  for (let pairs = 1; pairs <= PAIRS_MAX; pairs += 1) {
    wealth.add(margin, 1)
    if (wealth.log >= -Math.log(level)) return Math.ceil(pairs / tasks) * tasks
  }
  return Infinity
}
