/** The money of one step: what it spends goes into the ledger, and its caps and those of the day end it. */
import type { JsonObject } from '../../contract/index.ts'
import { estimate, estimateWords } from './estimate.ts'
import type { Ledger, Spender, StepSpent } from './ledger.ts'
import type { ModelCallUse } from './meter.ts'
import { pricesOf, spentBoth, spentBy, spentJson, tokensOf, type PriceSettings, type Spent } from './spent.ts'

/** 0: no limit. */
export interface CapSettings extends PriceSettings {
  readonly max_tokens_per_step: number
  readonly max_cost_per_step: number
  readonly max_tokens_per_day: number
  readonly max_cost_per_day: number
}

export class Purse {
  readonly #ledger: Ledger
  readonly #settings: CapSettings
  readonly #step: number
  readonly #now: () => number

  constructor(ledger: Ledger, settings: CapSettings, step: number, now: () => number) {
    this.#ledger = ledger
    this.#settings = settings
    this.#step = step
    this.#now = now
  }

  /** Returns what the call took. */
  spend(by: Spender, call: ModelCallUse): Spent {
    const spent = spentBy(call, pricesOf(this.#settings, call.model))
    this.#ledger.spend(this.#now(), this.#step, by, spent)
    return spent
  }

  episodeEnded(seconds: number): void {
    this.#ledger.episodeEnded(this.#now(), this.#step, seconds)
  }

  /** Throws where the disk does not take what was spent. */
  async settle(): Promise<void> {
    await this.#ledger.settle(this.#now())
  }

  /** The cap that is reached, in words; null where none is. As of the latest `settle`. */
  get reached(): string | null {
    return this.reachedToday ?? this.reachedByStep
  }

  /** The step may not begin. */
  get reachedToday(): string | null {
    const { max_tokens_per_day: tokens, max_cost_per_day: cost } = this.#settings
    return capWords('the scenario has used today', this.#ledger.today(this.#now()), { tokens, cost, per: 'day' })
  }

  get reachedByStep(): string | null {
    const { max_tokens_per_step: tokens, max_cost_per_step: cost } = this.#settings
    return capWords('the step has used', allOf(this.spent), { tokens, cost, per: 'step' })
  }

  /** By all attempts of the step. */
  get spent(): StepSpent {
    return this.#ledger.ofStep(this.#step)
  }

  /** For the row. */
  metrics(): JsonObject {
    const { episode, model } = this.spent
    if (episode.calls + model.calls === 0) return {}
    return { spent: { ...spentJson(allOf(this.spent)), episodes: spentJson(episode), proposer: spentJson(model) } }
  }

  /** By what episodes of this scenario took in the last days; null where none is known. */
  estimate(episodes: number | null, workers: number): string | null {
    const { ended, seconds, spent } = this.#ledger.episodes
    if (ended === 0) return null
    return estimateWords(estimate({ episodes: ended, seconds, spent }, episodes ?? 1, workers), episodes === null)
  }
}

const allOf = ({ episode, model }: StepSpent): Spent => spentBoth(episode, model)

function capWords(who: string, spent: Spent, cap: { readonly tokens: number; readonly cost: number; readonly per: string }): string | null {
  const tokens = tokensOf(spent)
  if (cap.tokens > 0 && tokens >= cap.tokens)
    return `${who} ${tokens} tokens, and its cap is ${cap.tokens} (evolution.max_tokens_per_${cap.per})`
  if (cap.cost > 0 && spent.cost >= cap.cost)
    return `${who} ${spent.cost.toFixed(2)} of money, and its cap is ${cap.cost} (evolution.max_cost_per_${cap.per})`
  return null
}
