/** The money of one step: what it spends goes into the ledger, and its caps and those of the day end it. */
import type { JsonObject } from '../../contract/index.ts'
import type { CallBound } from './bounds.ts'
import { CapReached, isCapped, mostWords, passedWords, reachedWords, type CapSettings } from './caps.ts'
import { estimate, estimateWords } from './estimate.ts'
import { allOf, type Ledger, type StepSpent, type Sums } from './ledger.ts'
import { dearestOf, NOTHING_SPENT, pricesOf, spentBy, spentJson, type ModelCallUse, type Spender, type Spent } from './spent.ts'

/** The most that a call may take is held for it, until it is over. */
export interface HeldCall {
  readonly id: string
  readonly bound: CallBound
}

export class Purse {
  readonly #ledger: Ledger
  readonly #settings: CapSettings
  readonly #step: number
  readonly #now: () => number
  /** The longest answer so far, which the next one that nothing bounds may be as long as. */
  #longest = 0
  #refused: string | null = null

  constructor(ledger: Ledger, settings: CapSettings, step: number, now: () => number) {
    this.#ledger = ledger
    this.#settings = settings
    this.#step = step
    this.#now = now
  }

  /**
   * Resolves once the call may be sent: then no cap is passed, whatever else is under way. Waits for calls that may give back enough. Throws
   * CapReached where none can. Null where there is no cap.
   */
  async hold(by: Spender, asked: CallBound, signal: AbortSignal): Promise<HeldCall | null> {
    if (!isCapped(this.#settings)) return null
    const bound = asked.isBounded ? asked : { ...asked, output: Math.max(asked.output, this.#longest) }
    const most = this.#mostOf(bound)
    for (;;) {
      if (this.#fits(this.#ledger.taken(this.#now(), this.#step), most, bound)) {
        const id = await this.#ledger.hold(this.#now(), this.#step, by, most)
        if (this.#fits(this.#ledger.taken(this.#now(), this.#step, id), most, bound)) return { id, bound }
        this.#ledger.drop(this.#now(), this.#step, id)
      }
      await this.#ledger.look(this.#now())
      this.#refusePassed(most, bound)
      if (!this.#fits(this.#ledger.taken(this.#now(), this.#step), most, bound)) await this.#ledger.changed(signal)
    }
  }

  /** Throws where no call that ends gives back enough. */
  #refusePassed(most: Spent, bound: CallBound): void {
    const { max_tokens_per_day: tokens, max_cost_per_day: cost } = this.#settings
    const { step, day } = this.#ledger.certain(this.#now(), this.#step)
    const today = passedWords(this.#settings, { day }, most, bound)
    const words = today ?? passedWords(this.#settings, { step }, most, bound)
    if (words === null) return
    // One that fits into no day is not waited for.
    const fitsTomorrow = passedWords(this.#settings, { day: NOTHING_SPENT }, most, bound) === null
    if (today !== null && fitsTomorrow) this.#ledger.full(this.#now(), this.#step, { tokens, cost, words })
    throw new CapReached(this.refuse(words))
  }

  /** From now on the cap counts as reached: a call was not sent, here or elsewhere. */
  refuse(words: string): string {
    this.#refused ??= words
    return this.#refused
  }

  #fits(sums: Sums, most: Spent, bound: CallBound): boolean {
    return passedWords(this.#settings, sums, most, bound) === null
  }

  #mostOf({ input, output, model }: CallBound): Spent {
    const prices = model === null ? dearestOf(this.#settings) : pricesOf(this.#settings, model)
    return spentBy({ input, cached: 0, output, model, isAnswered: true }, prices)
  }

  /** Returns what the call took. */
  spend(by: Spender, call: ModelCallUse, held: HeldCall | null = null): Spent {
    const spent = this.spentBy(call)
    this.#ledger.spend(this.#now(), this.#step, by, spent, held?.id ?? null)
    return spent
  }

  /** What a call took that is in the ledger already. */
  spentBy(call: ModelCallUse): Spent {
    this.#longest = Math.max(this.#longest, call.output)
    return spentBy(call, pricesOf(this.#settings, call.model))
  }

  episodeEnded(seconds: number): void {
    this.#ledger.episodeEnded(this.#now(), this.#step, seconds)
  }

  /** Resolves once what was spent so far is on the disk. */
  written(): Promise<void> {
    return this.#ledger.written()
  }

  /** Throws where the disk does not take what was spent. */
  async settle(): Promise<void> {
    await this.#ledger.settle(this.#now())
  }

  /** The cap that is reached, in words; null where none is. As of the latest `settle`. */
  get reached(): string | null {
    return this.#refused ?? this.reachedToday ?? this.reachedByStep
  }

  /** The step may not begin. */
  get reachedToday(): string | null {
    const { day } = this.#ledger.certain(this.#now(), this.#step)
    return reachedWords(this.#settings, { day }) ?? this.refusedToday
  }

  /** A call of the step did not fit into the day, and would into the next. */
  get refusedToday(): string | null {
    const { max_tokens_per_day: tokens, max_cost_per_day: cost } = this.#settings
    return this.#ledger.fullToday(this.#now(), this.#step, { tokens, cost })
  }

  get reachedByStep(): string | null {
    const { step } = this.#ledger.certain(this.#now(), this.#step)
    return reachedWords(this.#settings, { step })
  }

  /** By all attempts of the step. */
  get spent(): StepSpent {
    return this.#ledger.ofStep(this.#step)
  }

  /** For the row. */
  metrics(): JsonObject {
    const { episode, model } = this.spent
    const cap = this.reached === null ? {} : { cap_reached: this.reached }
    if (episode.calls + model.calls === 0) return cap
    return { ...cap, spent: { ...spentJson(allOf(this.spent)), episodes: spentJson(episode), proposer: spentJson(model) } }
  }

  /** By what episodes of this scenario took in the last days; null where none is known. */
  estimate(episodes: number | null, workers: number): string | null {
    const { ended, seconds, spent } = this.#ledger.episodes
    if (ended === 0) return null
    return (
      estimateWords(estimate({ episodes: ended, seconds, spent }, episodes ?? 1, workers), episodes === null) + mostWords(this.#settings)
    )
  }
}
