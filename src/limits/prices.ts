/** What tokens cost. A model without a price costs as much as the dearest one, so that no limit is passed by under a name that the table lacks. */
import type { CountedTokens } from './taken.ts'
import type { ModelPrice } from './settings.ts'

const MILLION = 1_000_000
const OTHERS = '*'

export class PriceTable {
  #prices: ReadonlyMap<string, ModelPrice> = new Map()
  #others: ModelPrice = { input: 0, output: 0 }

  constructor(prices: Readonly<Record<string, ModelPrice>>) {
    this.use(prices)
  }

  use(prices: Readonly<Record<string, ModelPrice>>): void {
    this.#prices = new Map(Object.entries(prices))
    this.#others = this.#prices.get(OTHERS) ?? dearest([...this.#prices.values()])
  }

  get isEmpty(): boolean {
    return this.#prices.size === 0
  }

  costOf(model: string | undefined, { input, output }: CountedTokens): number {
    const price = (model === undefined ? undefined : this.#priceOf(model)) ?? this.#others
    return (input * price.input + output * price.output) / MILLION
  }

  /** Of a model by any of its names, the first one that has a price. Null where the table has none for it. */
  listedCostOf(names: readonly string[], { input, output }: CountedTokens): number | null {
    const price = names.map((name) => this.#priceOf(name)).find((each) => each !== undefined) ?? this.#prices.get(OTHERS)
    return price === undefined ? null : (input * price.input + output * price.output) / MILLION
  }

  /** Providers answer with a dated name: `gpt-4o-2024-08-06` where `gpt-4o` was asked for. */
  #priceOf(model: string): ModelPrice | undefined {
    return this.#prices.get(model) ?? this.#prices.get(model.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8})$/, ''))
  }
}

const dearest = (prices: readonly ModelPrice[]): ModelPrice => ({
  input: Math.max(0, ...prices.map(({ input }) => input)),
  output: Math.max(0, ...prices.map(({ output }) => output)),
})
