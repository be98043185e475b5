/** The model's numbers about what comes after one token. They are read where they are: a vocabulary takes long to hand over, and to sort. */
import { upstream, type Refusal } from '../../../src/contract/index.ts'
import type { Base } from './base.ts'
import type { LlamaContext, NativeSampler, SampleQuestion } from './library.ts'
import { isGreedy, type Outlook, type Pick } from './sample.ts'

/** Log-probabilities are after temperature and before any filter; at temperature 0 they are those of temperature 1. */
export interface TokenPlace {
  /** One of all tokens, by its probability; the same seed draws the same one. */
  drawn(temperature: number, seed: number): Promise<Pick>
  /** So many of the likeliest. */
  outlook(temperature: number, count: number): Promise<Outlook>
  scoreOf(token: number): Promise<number>
}

/** Reads the places of one sequence, one after the other. */
export class TokenReader {
  readonly #context: LlamaContext
  readonly #vocabulary: number
  readonly #likeliest: NativeSampler
  readonly #others: NativeSampler

  constructor(base: Base, context: LlamaContext) {
    this.#context = context
    this.#vocabulary = base.vocabulary
    this.#likeliest = base.createSampler()
    this.#likeliest.applyConfig({ temperature: 0 })
    this.#others = base.createSampler()
  }

  at(index: number): TokenPlace {
    return {
      drawn: (temperature, seed) => this.#drawn(index, temperature, seed),
      outlook: (temperature, count) => this.#outlook(index, temperature, count),
      scoreOf: (token) => this.#scoreOf(index, token),
    }
  }

  dispose(): void {
    this.#likeliest.dispose()
    this.#others.dispose()
  }

  async #drawn(index: number, temperature: number, seed: number): Promise<Pick> {
    const greatest = await this.#greatest(index, [], isGreedy(temperature))
    if (isGreedy(temperature)) return { token: greatest.token, logProb: finite(-Math.log(greatest.weight)) }
    this.#others.applyConfig({ temperature, seed })
    const { token, logits, weight } = await this.#ask(index, this.#others, [[], false, false, true, 0], true)
    const logit = logits.get(token) ?? Number.NaN
    // Divided as the library divides, in 32 bits.
    const most = Math.fround(greatest.logit / Math.fround(temperature))
    return { token, logProb: finite(logit - most - Math.log(weight)) }
  }

  async #outlook(index: number, temperature: number, count: number): Promise<Outlook> {
    const scale = isGreedy(temperature) ? 1 : temperature
    this.#others.applyConfig({ temperature: scale })
    const { weight } = await this.#ask(index, this.#others, [[], false, false, true, 0], true)
    this.#others.applyConfig({ temperature: scale, topK: count })
    const { logits } = await this.#ask(index, this.#others, [[], false, false, false, count], false)
    const [tokens, values] = [[...logits.keys()], [...logits.values()]]
    const logWeight = finite((values[0] ?? Number.NaN) + Math.log(weight))
    return { tokens, logProbs: values.map((logit) => logit - logWeight), isWhole: tokens.length >= this.#vocabulary }
  }

  async #scoreOf(index: number, token: number): Promise<number> {
    const { logit, logits, weight } = await this.#greatest(index, [token], true)
    return finite((logits.get(token) ?? Number.NaN) - logit - Math.log(weight))
  }

  /** Weights are sums over all tokens, measured against this logit. */
  async #greatest(index: number, tokens: readonly number[], isWeighed: boolean) {
    const answer = await this.#ask(index, this.#likeliest, [tokens, false, false, true, 0], isWeighed)
    return { ...answer, logit: answer.logits.get(answer.token) ?? Number.NaN }
  }

  async #ask(index: number, sampler: NativeSampler, wanted: SampleQuestion[4], isWeighed: boolean) {
    const answer = await this.#context._ctx.sampleToken(index, sampler, false, false, wanted, isWeighed)
    const [token, , , pairs = [], weight = Number.NaN] = answer
    const logits = new Map<number, number>()
    for (let at = 0; at + 1 < pairs.length; at += 2) logits.set(pairs[at] ?? -1, pairs[at + 1] ?? Number.NaN)
    return { token, logits, weight }
  }
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw noNumbers()
  return value
}

const noNumbers = (): Refusal =>
  upstream('engine_failed', 'the model gave no finite numbers; its adapter may be broken: serve an earlier release')
