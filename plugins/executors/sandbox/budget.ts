/** What an episode may ask of the model: calls, tokens and money. A call takes its share before it is sent, so that calls at once cannot exceed it together. */
import { TokenCounter, type TokenCounts } from '../../../src/kit/index.ts'
import type { ModelLimits } from '../common/limits.ts'

/** What an answer counts as until it says its tokens, where its call names no limit. */
const OUTPUT_TOKENS = 32_768
const MILLION = 1_000_000

type Tokens = Pick<TokenCounts, 'input' | 'output'>

interface PaidCall {
  /** A part of the answer, in which the provider may say what it counted. */
  read(part: Buffer): void
  /** Replaces what was taken by what was used. */
  settle(): void
}

export class ModelBudget {
  readonly #limits: ModelLimits
  #calls = 0
  #input = 0
  #output = 0

  constructor(limits: ModelLimits) {
    this.#limits = limits
  }

  /** The words of the limit that the call would exceed. */
  take(bodyBytes: number, outputTokensMax: number | null): PaidCall | string {
    const { calls, tokens, cost } = this.#limits
    // No token is shorter than a byte.
    const taken = { input: bodyBytes, output: outputTokensMax ?? OUTPUT_TOKENS }
    if (this.#calls + 1 > calls) return `${calls} calls`
    if (this.#input + this.#output + taken.input + taken.output > tokens) return `${tokens} tokens`
    if (cost > 0 && this.#costWith(taken) > cost) return `${cost} of money`
    this.#calls += 1
    this.#add(taken, 1)
    const counter = new TokenCounter()
    counter.ask(bodyBytes)
    return {
      read: (part) => counter.read(part),
      settle: () => {
        this.#add(taken, -1)
        this.#add(counter.counts(), 1)
      },
    }
  }

  #add({ input, output }: Tokens, sign: 1 | -1): void {
    this.#input += sign * input
    this.#output += sign * output
  }

  #costWith({ input, output }: Tokens): number {
    const { inputPrice, outputPrice } = this.#limits
    return ((this.#input + input) * inputPrice + (this.#output + output) * outputPrice) / MILLION
  }
}
