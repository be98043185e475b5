/** The engine in this process: one base model, adapters beside it, and a decode loop of its own. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  invalid,
  unavailable,
  type AdapterFolder,
  type ChatAnswer,
  type Encoded,
  type Engine,
  type EngineChat,
  type EngineModel,
  type GenerateCall,
  type Generation,
  type JsonObject,
  type Sampling,
} from '../../../src/contract/index.ts'
import { badAdapter, EVALUATIONS_AT_ONCE, openBase, type Base } from './base.ts'
import { chat, ChatTemplate, encode } from './chat.ts'
import { scoresOf } from './evaluate.ts'
import { adapterLost, checkTokens, generate, type ActiveAdapter, type Decoder, type Running } from './generate.ts'
import { Contexts } from './contexts.ts'
import type { LlamaSettings } from './settings.ts'
import { orAborted, Slots } from '../../../src/kit/index.ts'

const ADAPTER_FILE = 'adapter.gguf'

/** An engine that knows the name of its model at once. */
export interface NamedEngine extends Engine {
  readonly modelName: string
}

/** Throws Refusal when the library is not installed, or the model cannot be loaded. */
export async function openLlamaEngine(settings: LlamaSettings, clock: () => number = () => Date.now() / 1000): Promise<NamedEngine> {
  return new LlamaEngine(await openBase(settings), settings, clock)
}

class LlamaEngine implements NamedEngine {
  readonly modelName: string
  readonly capacity: number
  readonly moves = true
  readonly #base: Base
  readonly #template: ChatTemplate
  readonly #clock: () => number
  readonly #adapters = new Map<string, string>()
  readonly #turns = new Slots(EVALUATIONS_AT_ONCE)
  readonly #decoder: Decoder
  readonly #running = new Set<Running>()
  /** Everything that uses the model; `close` waits for it. */
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor(base: Base, settings: LlamaSettings, clock: () => number) {
    this.modelName = base.name
    this.capacity = settings.capacity
    this.#base = base
    this.#template = new ChatTemplate(base)
    this.#clock = clock
    const isWanted = (file: string): boolean => [...this.#adapters.values()].includes(file)
    const contexts = new Contexts(base, { count: settings.parallel, turns: this.#turns, isWanted })
    this.#decoder = { base, contexts, holds: (name) => this.#adapters.has(name) }
  }

  async model(signal: AbortSignal): Promise<EngineModel> {
    const { name, vocabulary, contextTokens } = this.#base
    const [digest, shape] = await this.#use(signal, () => Promise.all([this.#base.digest(), this.#base.shape()]))
    return { name, vocabulary, contextTokens, digest, shape }
  }

  async load({ name, directory }: AdapterFolder, signal: AbortSignal): Promise<void> {
    if (this.#adapters.has(name)) throw invalid('adapter_known', 'an adapter of that name is loaded already; a name is loaded once')
    if (this.#adapters.size >= this.capacity)
      throw unavailable('engine_full', `the engine holds ${this.capacity} adapters already; unload one, or raise inference.engine.capacity`)
    const file = join(directory, ADAPTER_FILE)
    const found = await stat(file).catch(() => null)
    if (found?.isFile() !== true) throw badAdapter(`its folder has no ${ADAPTER_FILE}`)
    // Held from here on, so that a second call with the name is refused and the file is not freed between trial and use.
    this.#adapters.set(name, file)
    try {
      await this.#use(signal, () => this.#decoder.contexts.try(file))
    } catch (error) {
      await this.unload(name)
      throw error
    }
  }

  async unload(name: string): Promise<void> {
    if (this.#adapters.delete(name)) await this.#track(this.#decoder.contexts.tidy())
  }

  adapters(): Promise<readonly string[]> {
    return Promise.resolve([...this.#adapters.keys()])
  }

  move(from: string | null, to: string | null): void {
    const adapter = this.#adapterOf(to)
    for (const call of this.#running) if (call.adapter.name === from) call.adapter = adapter
  }

  async pause(): Promise<void> {
    await this.#turns.shut()
  }

  resume(): Promise<void> {
    this.#turns.open()
    return Promise.resolve()
  }

  health(): Promise<void> {
    return this.#closing.signal.aborted ? Promise.reject(closed()) : Promise.resolve()
  }

  generate({ prompt, adapter, sampling, signal }: GenerateCall): Promise<Generation> {
    return this.#use(signal, async (given) => {
      const call: Running = { prompt, sampling, signal: given, adapter: this.#adapterOf(adapter) }
      this.#running.add(call)
      try {
        return await generate(this.#decoder, call)
      } finally {
        this.#running.delete(call)
      }
    })
  }

  score(tokens: readonly number[], adapter: string | null, signal: AbortSignal): Promise<readonly number[]> {
    return this.#use(signal, async (given) => {
      checkTokens(this.#base, tokens, 'tokens')
      if (tokens.length > this.#base.contextTokens)
        throw invalid('too_many_tokens', `tokens are ${tokens.length}; the engine's context has ${this.#base.contextTokens}`)
      const { file } = this.#adapterOf(adapter)
      return this.#decoder.contexts.during(given, async (hold) => {
        if (adapter !== null && !this.#adapters.has(adapter)) throw adapterLost()
        return scoresOf({ held: await hold(file, tokens, true), transcript: tokens, isExact: true, signal: given })
      })
    })
  }

  chat({ body, adapter, signal }: EngineChat): Promise<ChatAnswer> {
    const [base, template, clock] = [this.#base, this.#template, this.#clock]
    const ask = {
      base,
      template,
      clock,
      generate: (prompt: readonly number[], sampling: Sampling) => this.generate({ prompt, adapter, sampling, signal }),
    }
    return this.#use(signal, () => chat(ask, body))
  }

  encode(body: JsonObject, answer: JsonObject | null, signal: AbortSignal): Promise<Encoded | null> {
    return this.#use(signal, () => Promise.resolve(encode({ base: this.#base, template: this.#template }, body, answer)))
  }

  status(): JsonObject {
    const { name, device, contextTokens } = this.#base
    return { model: name, device, context_tokens: contextTokens, ...this.#decoder.contexts.status(), paused: this.#turns.isShut }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort(closed())
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
    await this.#decoder.contexts.close()
    await this.#base.dispose()
  }

  #adapterOf(name: string | null): ActiveAdapter {
    if (name === null) return { name: null, file: null }
    const file = this.#adapters.get(name)
    if (file === undefined) throw adapterLost()
    return { name, file }
  }

  /** Rejects at once on an abort; work in a native thread ends a moment later, and `close` waits for it. */
  #use<T>(signal: AbortSignal, work: (given: AbortSignal) => Promise<T>): Promise<T> {
    const given = AbortSignal.any([signal, this.#closing.signal])
    if (given.aborted) return Promise.reject(reasonOf(given.reason))
    return orAborted(this.#track(work(given)), given, reasonOf)
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const settled = work.finally(() => this.#underWay.delete(settled))
    this.#underWay.add(settled)
    return settled
  }
}

const reasonOf = (reason: unknown): Error => (reason instanceof Error ? reason : closed())
const closed = (): Error => unavailable('engine_closed', 'the engine is closed')
