/** Contexts of the base model, each with one adapter or none: as many as generate at once, kept warm for the next call. */
import { BATCH_TOKENS, noRoom, type Base } from './base.ts'
import type { EvaluateItem, EvaluateOutput, LlamaContext, LlamaSequence } from './library.ts'
import { Slots } from '../../../src/kit/index.ts'

export class ModelContext {
  /** The adapter's file; null is the base alone. */
  readonly adapter: string | null
  readonly #native: LlamaContext
  readonly #sequence: LlamaSequence
  #tokens: number[] = []
  /** How many tokens were evaluated in whole batches, which give the same numbers to the last bit. */
  #whole = 0

  constructor(adapter: string | null, context: LlamaContext) {
    this.adapter = adapter
    this.#native = context
    this.#sequence = context.getSequence()
  }

  get tokens(): readonly number[] {
    return this.#tokens
  }

  /** How many tokens of a transcript need no second evaluation. Only whole batches: an answer must not depend on the call before it. */
  reusable(transcript: readonly number[]): number {
    const different = this.#tokens.findIndex((token, at) => token !== transcript[at])
    const same = Math.min(different === -1 ? this.#tokens.length : different, transcript.length - 1, this.#whole)
    return same - (same % BATCH_TOKENS)
  }

  async evaluate(piece: readonly number[], items: readonly EvaluateItem[]): Promise<readonly (EvaluateOutput | undefined)[]> {
    const outputs = await this.#sequence.controlledEvaluate(items)
    if (this.#whole === this.#tokens.length && piece.length === BATCH_TOKENS) this.#whole += BATCH_TOKENS
    this.#tokens.push(...piece)
    return outputs
  }

  async cut(at: number): Promise<void> {
    await this.#sequence.eraseContextTokenRanges([{ start: at, end: this.#tokens.length }])
    if (this.#sequence.nextTokenIndex !== at) {
      if (at === 0) throw new Error('a context did not forget what it held')
      // Not every kind of model can forget its last tokens alone.
      return this.cut(0)
    }
    this.#tokens.length = at
    this.#whole = Math.min(this.#whole, at - (at % BATCH_TOKENS))
  }

  dispose(): Promise<void> {
    return this.#native.dispose()
  }
}

/** The context that the slot holds, if it has the adapter; else another. */
export type ContextFor = (adapter: string | null, transcript: readonly number[]) => Promise<ModelContext>

export class Contexts {
  readonly #base: Base
  readonly #count: number
  readonly #slots: Slots
  /** Least recently used first. */
  readonly #idle: ModelContext[] = []
  /** How many contexts an adapter is in, made or being made. */
  readonly #uses = new Map<string, number>()
  readonly #isWanted: (adapter: string) => boolean

  constructor(base: Base, count: number, isWanted: (adapter: string) => boolean) {
    this.#base = base
    this.#count = count
    this.#slots = new Slots(count)
    this.#isWanted = isWanted
  }

  status(): { readonly generating: number; readonly waiting: number; readonly contexts: number } {
    const { taken, waiting } = this.#slots
    return { generating: taken, waiting, contexts: this.#idle.length + taken }
  }

  /** Waits for a free slot, and holds it, with one context at a time, for as long as the work takes. */
  during<T>(signal: AbortSignal, work: (contextFor: ContextFor) => Promise<T>): Promise<T> {
    return this.#slots.run(async () => {
      const slot: { context: ModelContext | null } = { context: null }
      const giveBack = async (): Promise<void> => {
        const { context } = slot
        slot.context = null
        if (context !== null) await this.#giveBack(context)
      }
      const contextFor: ContextFor = async (adapter, transcript) => {
        if (slot.context?.adapter === adapter) return slot.context
        await giveBack()
        return (slot.context = await this.#take(adapter, transcript))
      }
      try {
        return await work(contextFor)
      } catch (error) {
        // After a failure the state of a context is unknown.
        const { context } = slot
        slot.context = null
        if (context !== null) await this.#remove(context)
        throw error
      } finally {
        await giveBack()
      }
    }, signal)
  }

  async #take(adapter: string | null, transcript: readonly number[]): Promise<ModelContext> {
    const [best] = this.#idle
      .filter((context) => context.adapter === adapter)
      .sort((a, b) => b.reusable(transcript) - a.reusable(transcript))
    if (best === undefined) return this.#make(adapter)
    this.#idle.splice(this.#idle.indexOf(best), 1)
    await best.cut(best.reusable(transcript))
    return best
  }

  async #giveBack(context: ModelContext): Promise<void> {
    if (context.adapter !== null && !this.#isWanted(context.adapter)) return this.#remove(context)
    this.#idle.push(context)
  }

  async #remove(context: ModelContext): Promise<void> {
    await context.dispose()
    await this.#unuse(context.adapter)
  }

  /** Uses a context beyond the slots: publishing does not wait for generations to end. */
  async try(adapter: string): Promise<void> {
    this.#use(adapter)
    try {
      await this.#base.tryAdapter(adapter)
    } finally {
      await this.#unuse(adapter)
    }
  }

  /** Call it when an adapter may be unwanted. Contexts in use are removed when they are given back. */
  async tidy(): Promise<void> {
    const unwanted = this.#idle.filter(({ adapter }) => adapter !== null && !this.#isWanted(adapter))
    for (const context of unwanted) this.#idle.splice(this.#idle.indexOf(context), 1)
    await Promise.all(unwanted.map((context) => this.#remove(context)))
    const unused = [...this.#uses].filter(([adapter, uses]) => uses === 0 && !this.#isWanted(adapter))
    await Promise.all(unused.map(([adapter]) => this.#free(adapter)))
  }

  /** No slot is given from here on. */
  async close(): Promise<void> {
    await this.#slots.shut()
    await Promise.all(this.#idle.splice(0).map((context) => context.dispose()))
  }

  /** Never more contexts than slots: the least recently used idle one makes room. */
  async #make(adapter: string | null): Promise<ModelContext> {
    while (this.#idle.length > 0 && this.#idle.length + this.#slots.taken > this.#count) {
      const [oldest] = this.#idle.splice(0, 1)
      if (oldest !== undefined) await this.#remove(oldest)
    }
    this.#use(adapter)
    try {
      return new ModelContext(adapter, await this.#base.createContext(adapter))
    } catch (error) {
      await this.#unuse(adapter)
      throw noRoom(error)
    }
  }

  #use(adapter: string | null): void {
    if (adapter !== null) this.#uses.set(adapter, (this.#uses.get(adapter) ?? 0) + 1)
  }

  async #unuse(adapter: string | null): Promise<void> {
    if (adapter === null) return
    const uses = (this.#uses.get(adapter) ?? 1) - 1
    this.#uses.set(adapter, uses)
    if (uses === 0 && !this.#isWanted(adapter)) await this.#free(adapter)
  }

  async #free(adapter: string): Promise<void> {
    this.#uses.delete(adapter)
    await this.#base.letGoOf(adapter)
  }
}
