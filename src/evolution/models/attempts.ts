/** What is held for the attempts of one call: each by itself, since one that breaks off may cost as much as one that is answered. */
import type { JsonObject, ModelAddress } from '../../contract/index.ts'
import { dialectsByApi, type ModelAnswer } from '../../dialects/index.ts'
import { TokenCounter } from '../../kit/index.ts'
import { EpisodeBounds, usedWithin, type CallBound } from '../money/bounds.ts'
import type { HeldCall } from '../money/purse.ts'
import { NO_TOKENS, type ModelCallUse } from '../money/spent.ts'

export interface AttemptsOptions {
  /** Resolves once an attempt may be made, with what is held for it. Throws where no further one may be made. */
  readonly hold?: (bound: CallBound, signal: AbortSignal) => Promise<HeldCall | null>
  /** After each attempt that was held, and after each answer. */
  readonly used?: (call: ModelCallUse, held: HeldCall | null) => void
}

export class Attempts {
  readonly #address: ModelAddress
  readonly #options: AttemptsOptions
  /** Of the attempt that is under way. */
  #held: HeldCall | null = null

  constructor(address: ModelAddress, options: AttemptsOptions) {
    this.#address = address
    this.#options = options
  }

  async hold(body: JsonObject, signal: AbortSignal): Promise<void> {
    this.#held = (await this.#options.hold?.(boundOf(this.#address, body), signal)) ?? null
    // It will not be sent.
    if (signal.aborted) this.refused()
  }

  answered(messages: readonly JsonObject[], response: JsonObject, answer: ModelAnswer): void {
    this.#options.used?.(useOf(this.#address, messages, response, answer, this.#held), this.#held)
    this.#held = null
  }

  /** It was not made, or the model took nothing for it. */
  refused(): void {
    this.#end(NOT_MADE)
  }

  /** It was sent, and nobody says what it took: the most that it may have been. Nothing where none is under way. */
  lost(): void {
    if (this.#held !== null) this.#end({ ...this.#held.bound, cached: 0, model: this.#address.model, isAnswered: true })
  }

  #end(use: ModelCallUse): void {
    if (this.#held !== null) this.#options.used?.(use, this.#held)
    this.#held = null
  }
}

const NOT_MADE: ModelCallUse = { ...NO_TOKENS, model: null, isAnswered: false }

/** An attempt takes no more than this. */
function boundOf({ api, model }: ModelAddress, request: JsonObject): CallBound {
  const body = Buffer.from(JSON.stringify(request))
  return new EpisodeBounds().of({ dialect: dialectsByApi[api], model, body, bytes: body.length })
}

/** What the answer does not say is estimated; under a cap it is the most that it may have been. */
function useOf(
  { model }: ModelAddress,
  messages: readonly JsonObject[],
  response: JsonObject,
  answer: ModelAnswer,
  held: HeldCall | null,
): ModelCallUse {
  const counter = new TokenCounter()
  counter.ask(Buffer.byteLength(JSON.stringify(messages)))
  counter.read(Buffer.from(JSON.stringify(response)))
  const { input, cached, output } = held === null ? counter.counts() : usedWithin(held.bound, counter, 'whole')
  const said = { input: answer.inputTokens || input, output: answer.outputTokens || output }
  return { ...said, cached: Math.min(cached, said.input), model: model ?? counter.model, isAnswered: true }
}
