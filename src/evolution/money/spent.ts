/** What model calls took: tokens, and money where their prices are known. An unknown price is never 0. */
import type { JsonObject } from '../../contract/index.ts'
import type { TokenCounts } from '../../kit/index.ts'

/** Of a call that was not made or not answered. */
export const NO_TOKENS: TokenCounts = { input: 0, cached: 0, output: 0 }

export interface ModelCallUse extends TokenCounts {
  /** As it was configured, else as the answer names it. */
  readonly model: string | null
  /** One that was refused or broke off before its answer took nothing. */
  readonly isAnswered: boolean
}

/** `episode`: a call of an agent. `model`: a call of a proposer or an evaluator. */
export type Spender = 'episode' | 'model'

/** Of a million tokens. */
export interface TokenPrices {
  readonly input: number
  readonly output: number
  /** Of tokens of the question that the provider had in its cache. */
  readonly cached: number
}

export interface Spent {
  readonly calls: number
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  /** Of the calls with a price. */
  readonly cost: number
  readonly unpricedCalls: number
}

export const NOTHING_SPENT: Spent = { calls: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, cost: 0, unpricedCalls: 0 }

export const spentBoth = (one: Spent, other: Spent): Spent => ({
  calls: one.calls + other.calls,
  inputTokens: one.inputTokens + other.inputTokens,
  cachedTokens: one.cachedTokens + other.cachedTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  cost: one.cost + other.cost,
  unpricedCalls: one.unpricedCalls + other.unpricedCalls,
})

export const tokensOf = ({ inputTokens, outputTokens }: Spent): number => inputTokens + outputTokens

export function spentBy(call: ModelCallUse, prices: TokenPrices | null): Spent {
  const { input, cached, output } = call
  return {
    calls: 1,
    inputTokens: input,
    cachedTokens: cached,
    outputTokens: output,
    cost: prices === null ? 0 : ((input - cached) * prices.input + cached * prices.cached + output * prices.output) / MILLION,
    // One without an answer is free at any price.
    unpricedCalls: prices === null && call.isAnswered ? 1 : 0,
  }
}
const MILLION = 1_000_000

/** As a row has it. The cost is null where no price is known; with `unpriced_calls` it is the least. */
export const spentJson = ({ calls, inputTokens, cachedTokens, outputTokens, cost, unpricedCalls }: Spent): JsonObject => ({
  calls,
  input_tokens: inputTokens,
  cached_tokens: cachedTokens,
  output_tokens: outputTokens,
  cost: unpricedCalls > 0 && cost === 0 ? null : roundedCost(cost),
  ...(unpricedCalls > 0 && { unpriced_calls: unpricedCalls }),
})

/** A sum of many small costs has digits of no meaning. */
const roundedCost = (cost: number): number => Math.round(cost * MILLION) / MILLION

/** What the configuration says of prices. */
export interface PriceSettings {
  readonly prices: Readonly<Record<string, { readonly input: number; readonly output: number; readonly cached: number | null }>>
  readonly sandbox: unknown
}

/** What a call costs at most whose model nobody names. */
export function dearestOf(settings: PriceSettings): TokenPrices | null {
  const all = [null, ...Object.keys(settings.prices)].map((model) => pricesOf(settings, model)).filter((each) => each !== null)
  if (all.length === 0) return null
  const most = (kind: keyof TokenPrices): number => Math.max(...all.map((each) => each[kind]))
  return { input: most('input'), output: most('output'), cached: most('cached') }
}

/** By the model's name, else `*`, else the two prices that bound an episode; null where none is set. */
export function pricesOf({ prices, sandbox }: PriceSettings, model: string | null): TokenPrices | null {
  const named = model !== null && Object.hasOwn(prices, model) ? prices[model] : undefined
  const found = named ?? prices['*']
  if (found !== undefined) return { ...found, cached: found.cached ?? found.input }
  const { input_price: input, output_price: output } = Object(sandbox)
  return typeof input === 'number' && typeof output === 'number' && input + output > 0 ? { input, output, cached: input } : null
}
