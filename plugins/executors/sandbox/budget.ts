/** What an episode may ask of the model: calls, tokens and money. A call takes its share before it is sent, so that calls at once cannot exceed it together. */
import type { ModelLimits } from '../common/limits.ts'

/** What an answer counts as until it says its tokens, where its call names no limit. */
const OUTPUT_TOKENS = 32_768
const MILLION = 1_000_000
/** A text has about as many bytes to a token. */
const BYTES_PER_TOKEN = 4

interface Tokens {
  readonly input: number
  readonly output: number
}

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
    const counted = new CountedTokens(Math.ceil(bodyBytes / BYTES_PER_TOKEN))
    return {
      read: (part) => counted.read(part),
      settle: () => {
        this.#add(taken, -1)
        this.#add(counted.said(), 1)
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

/** Every name that a format counts tokens by. Inside a JSON text a quote is escaped, so none of these is words of the model. */
const COUNT = /"((?:cache_creation_|cache_read_)?input_tokens|prompt_tokens|output_tokens|completion_tokens)"\s*:\s*(\d{1,15})/g
const LONGEST_COUNT = 64

/** Reads tokens out of an answer, whole or streamed. What it does not say is estimated by its length. */
class CountedTokens {
  readonly #inputEstimate: number
  readonly #said = new Map<string, number>()
  #bytes = 0
  #tail = ''

  constructor(inputEstimate: number) {
    this.#inputEstimate = inputEstimate
  }

  read(part: Buffer): void {
    this.#bytes += part.length
    const text = this.#tail + part.toString('latin1')
    for (const [, name = '', count = ''] of text.matchAll(COUNT)) this.#said.set(name, Math.max(this.#said.get(name) ?? 0, Number(count)))
    this.#tail = text.slice(-LONGEST_COUNT)
  }

  said(): Tokens {
    const sum = (names: readonly string[]): number => names.reduce((all, name) => all + (this.#said.get(name) ?? 0), 0)
    const input = sum(['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'prompt_tokens'])
    const output = sum(['output_tokens', 'completion_tokens'])
    return {
      input: input === 0 ? this.#inputEstimate : input,
      output: output === 0 ? Math.ceil(this.#bytes / BYTES_PER_TOKEN) : output,
    }
  }
}
