/** Tests that a candidate is better: adds pairs, decides, and says what to play next. */
import { hash } from 'node:crypto'
import { logEvidenceMax, logEvidenceOf, logReachOf, type TaskTally } from './leanings.ts'
import { reachOf, Wealth } from './wealth.ts'

const LOT_HEX_DIGITS = 12

interface ChosenTask {
  readonly task: number
  /** The inverse of the task's relative probability; at most 2. */
  readonly weight: number
}

export interface Terms {
  readonly tasks: number
  readonly seed: string
  /** The probability that a candidate that is no better passes. */
  readonly level: number
  readonly pairsMax: number
}
/** `tasks`: too few to distinguish a gain from luck. */
export type StopReason = 'success' | 'futility' | 'budget' | 'tasks'

export interface PairDraw extends ChosenTask {
  readonly repeat: number
}

const STAKES = [0.15, 0.3, 0.5, 0.9]
/** The first round plays each task once in random order, up to this number. */
const FIRST_ROUND_TASKS_MAX = 64
const BATCH_PAIRS = 4
const PAIRS_MIN = 20
/** With weights up to 2, a stake of one half never loses more than everything. */
export const WEIGHT_MAX = 2

export class Superiority {
  readonly #terms: Terms
  readonly #threshold: number
  readonly #order: readonly number[]
  readonly #tallies: TaskTally[]
  readonly #wealth = new Wealth(STAKES)
  #pairs = 0
  #sum = 0
  #squares = 0

  constructor(terms: Terms) {
    this.#terms = terms
    this.#threshold = -Math.log(terms.level)
    this.#order = orderOf(terms.seed, terms.tasks)
    this.#tallies = Array.from({ length: terms.tasks }, () => ({ draws: 0, sum: 0, squares: 0 }))
  }

  add(task: number, difference: number, weight: number): void {
    const { draws, sum, squares } = this.#tallies[task] ?? { draws: 0, sum: 0, squares: 0 }
    this.#tallies[task] = { draws: draws + 1, sum: sum + difference, squares: squares + difference ** 2 }
    this.#wealth.add(weight * difference, this.#pairs < this.#firstRound ? 1 : 1 / WEIGHT_MAX)
    this.#pairs += 1
    this.#sum += weight * difference
    this.#squares += (weight * difference) ** 2
  }

  /** Null while there is more to play. The first round is not decided early: its tasks were drawn without replacement. */
  get stopped(): StopReason | null {
    const { tasks, pairsMax } = this.#terms
    if (logEvidenceMax(tasks) < this.#threshold) return 'tasks'
    if (this.#pairs < Math.min(this.#firstRound, pairsMax)) return null
    if (this.logDraws >= this.#threshold && this.logTasks >= this.#threshold) return 'success'
    if (this.#pairs >= pairsMax) return 'budget'
    return this.#pairs >= PAIRS_MIN && this.#hopeless ? 'futility' : null
  }

  /** A few at a time: they can be played concurrently, and later draws follow the results. */
  next(): readonly PairDraw[] {
    if (this.stopped !== null) return []
    const { seed, pairsMax } = this.#terms
    const count = Math.min(BATCH_PAIRS, pairsMax - this.#pairs)
    if (this.#pairs < this.#firstRound) return this.#first(count)
    const chosen = choose(seed, this.#pairs, count, this.#tallies)
    return chosen.map((one, n) => ({ ...one, repeat: this.#drawsOf(one.task) + timesIn(chosen.slice(0, n), one.task) }))
  }

  get logDraws(): number {
    return this.#wealth.log
  }
  get logTasks(): number {
    return logEvidenceOf(this.#tallies)
  }
  get threshold(): number {
    return this.#threshold
  }
  get mean(): number {
    return this.#pairs === 0 ? 0 : this.#sum / this.#pairs
  }
  get pairs(): number {
    return this.#pairs
  }
  get tallies(): readonly TaskTally[] {
    return this.#tallies
  }
  get firstRoundPairs(): number {
    return this.#firstRound
  }

  get #firstRound(): number {
    return Math.min(this.#terms.tasks, FIRST_ROUND_TASKS_MAX)
  }
  #first(count: number): readonly PairDraw[] {
    const waiting = this.#order.slice(0, this.#firstRound).filter((task) => this.#drawsOf(task) === 0)
    return waiting.slice(0, count).map((task) => ({ task, weight: 1, repeat: 0 }))
  }
  #drawsOf(task: number): number {
    return this.#tallies[task]?.draws ?? 0
  }

  get #hopeless(): boolean {
    const gains = this.#pairs
    const course = {
      log: this.logDraws,
      gains,
      mean: this.mean,
      meanSquare: this.#squares / gains,
      gainsLeft: this.#terms.pairsMax - gains,
    }
    if (reachOf(course) < this.#threshold) return true
    return logReachOf(this.#tallies) < this.#threshold && this.logTasks < this.#threshold
  }
}

const timesIn = (chosen: readonly ChosenTask[], task: number): number => chosen.filter((other) => other.task === task).length

/** All tasks in random order. */
function orderOf(seed: string, tasks: number): readonly number[] {
  const lots = Array.from({ length: tasks }, (_, task) => ({ task, lot: lotOf(`${seed} order`, task) }))
  return lots.toSorted((a, b) => a.lot - b.lot).map(({ task }) => task)
}

/** Draws `count` tasks. Tasks whose sides differed, and unseen ones, are more likely; none is less than half as likely as uniform. */
function choose(seed: string, drawn: number, count: number, tallies: readonly TaskTally[]): readonly ChosenTask[] {
  const tellings = tallies.map(({ draws, squares }) => Math.sqrt((squares + 0.5) / (draws + 1)))
  const all = tellings.reduce((sum, telling) => sum + telling, 0)
  const chances = tellings.map((telling) => 0.5 / tallies.length + (0.5 * telling) / all)
  return Array.from({ length: count }, (_, n) => {
    const task = taskAt(lotOf(seed, drawn + n), chances)
    return { task, weight: 1 / (tallies.length * (chances[task] ?? 1)) }
  })
}

function taskAt(lot: number, chances: readonly number[]): number {
  let above = 0
  for (const [task, chance] of chances.entries()) {
    above += chance
    if (lot < above) return task
  }
  return chances.length - 1
}

const lotOf = (seed: string, drawn: number): number =>
  Number.parseInt(hash('sha256', `${seed} ${drawn}`).slice(0, LOT_HEX_DIGITS), 16) / 16 ** LOT_HEX_DIGITS
