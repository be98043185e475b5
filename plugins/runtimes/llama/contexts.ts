/** Contexts of the base model, one for each adapter that is in use: a sequence for each generation, kept warm for the next call. */
import { noRoom, type Base } from './base.ts'
import type { LlamaContext } from './library.ts'
import { Rounds } from './rounds.ts'
import { Sequence } from './sequence.ts'
import { Slots } from '../../../src/kit/index.ts'

/** A sequence that a call holds, and where its evaluations are queued. */
export interface Held {
  readonly sequence: Sequence
  readonly rounds: Rounds
}

class SharedContext {
  /** The adapter's file; null is the base alone. */
  readonly adapter: string | null
  readonly sequences: readonly Sequence[]
  readonly rounds: Rounds
  /** Least recently used first. */
  readonly idle: Sequence[]
  readonly #native: LlamaContext

  constructor(adapter: string | null, native: LlamaContext, sequences: readonly Sequence[], rounds: Rounds) {
    this.adapter = adapter
    this.sequences = sequences
    this.rounds = rounds
    this.idle = [...sequences]
    this.#native = native
  }

  get isIdle(): boolean {
    return this.idle.length === this.sequences.length
  }

  /** Sequences share what a failure may have left behind. */
  get isBroken(): boolean {
    return this.sequences.some((sequence) => sequence.isBroken)
  }

  async dispose(): Promise<void> {
    for (const sequence of this.sequences) sequence.dispose()
    await this.#native.dispose()
  }
}

/** The sequence that the slot holds, if it has the adapter; else another. */
export type Hold = (adapter: string | null, transcript: readonly number[], isExact: boolean) => Promise<Held>

interface Options {
  /** How many generations run at once. */
  readonly count: number
  readonly turns: Slots
  readonly isWanted: (adapter: string) => boolean
}

/** While an update moves generations to another adapter, both have a context. */
const WHOLE_CONTEXTS = 2

export class Contexts {
  readonly #base: Base
  readonly #count: number
  readonly #turns: Slots
  readonly #slots: Slots
  /** Least recently used first. */
  readonly #contexts = new Set<SharedContext>()
  readonly #making = new Map<string | null, Promise<SharedContext>>()
  /** How many contexts an adapter is in, made or being made. */
  readonly #uses = new Map<string, number>()
  readonly #isWanted: (adapter: string) => boolean
  /** Sequences of contexts that are being made. */
  #promised = 0

  constructor(base: Base, { count, turns, isWanted }: Options) {
    this.#base = base
    this.#count = count
    this.#turns = turns
    this.#slots = new Slots(count)
    this.#isWanted = isWanted
  }

  status(): { readonly generating: number; readonly waiting: number; readonly contexts: number } {
    const { taken, waiting } = this.#slots
    return { generating: taken, waiting, contexts: this.#contexts.size }
  }

  /** Waits for a free slot, and holds it, with one sequence at a time, for as long as the work takes. */
  during<T>(signal: AbortSignal, work: (hold: Hold) => Promise<T>): Promise<T> {
    return this.#slots.run(async () => {
      const slot: { held: (Held & { readonly context: SharedContext }) | null } = { held: null }
      const giveBack = async (): Promise<void> => {
        const { held } = slot
        slot.held = null
        if (held !== null) await this.#giveBack(held.context, held.sequence)
      }
      const hold: Hold = async (adapter, transcript, isExact) => {
        if (slot.held?.context.adapter === adapter) return slot.held
        await giveBack()
        const { context, sequence } = await this.#take(adapter, (one) => one.reusable(transcript, isExact))
        slot.held = { context, sequence, rounds: context.rounds }
        await sequence.cut(sequence.reusable(transcript, isExact))
        return slot.held
      }
      try {
        return await work(hold)
      } finally {
        await giveBack()
      }
    }, signal)
  }

  async #take(
    adapter: string | null,
    reusable: (sequence: Sequence) => number,
  ): Promise<{ readonly context: SharedContext; readonly sequence: Sequence }> {
    for (;;) {
      const [best] = [...this.#contexts]
        .filter((context) => context.adapter === adapter && !context.isBroken)
        .flatMap((context) => context.idle.map((sequence) => ({ context, sequence })))
        .sort((a, b) => reusable(b.sequence) - reusable(a.sequence))
      if (best !== undefined) {
        best.context.idle.splice(best.context.idle.indexOf(best.sequence), 1)
        return best
      }
      // Others may have taken all of it by then.
      await this.#makeOnce(adapter)
    }
  }

  async #giveBack(context: SharedContext, sequence: Sequence): Promise<void> {
    context.idle.push(sequence)
    this.#contexts.delete(context)
    this.#contexts.add(context)
    const isUnwanted = context.adapter !== null && !this.#isWanted(context.adapter)
    // One that was made while there was little room makes room for a whole one.
    if (context.isIdle && (isUnwanted || context.isBroken || context.sequences.length < this.#count)) await this.#remove(context)
  }

  async #remove(context: SharedContext): Promise<void> {
    this.#contexts.delete(context)
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
    const unwanted = [...this.#contexts].filter(({ adapter, isIdle }) => isIdle && adapter !== null && !this.#isWanted(adapter))
    await Promise.all(unwanted.map((context) => this.#remove(context)))
    const unused = [...this.#uses].filter(([adapter, uses]) => uses === 0 && !this.#isWanted(adapter))
    await Promise.all(unused.map(([adapter]) => this.#free(adapter)))
  }

  /** No slot is given from here on. */
  async close(): Promise<void> {
    await this.#slots.shut()
    await Promise.all([...this.#contexts].map((context) => context.dispose()))
    this.#contexts.clear()
  }

  async #makeOnce(adapter: string | null): Promise<void> {
    const made = this.#making.get(adapter) ?? this.#make(adapter).finally(() => this.#making.delete(adapter))
    this.#making.set(adapter, made)
    await made
  }

  /** With a sequence for every slot, as long as there is room for it; the least recently used idle ones make room. */
  async #make(adapter: string | null): Promise<SharedContext> {
    const room = WHOLE_CONTEXTS * this.#count
    const held = (): number => [...this.#contexts].reduce((sum, { sequences }) => sum + sequences.length, this.#promised)
    for (const context of this.#contexts) if (context.isIdle && held() + this.#count > room) await this.#remove(context)
    const size = Math.max(1, Math.min(this.#count, room - held()))
    this.#promised += size
    this.#use(adapter)
    try {
      const native = await this.#base.createContext(adapter, size)
      const sequences = Array.from({ length: size }, () => new Sequence(this.#base, native))
      const context = new SharedContext(adapter, native, sequences, new Rounds(this.#turns))
      this.#contexts.add(context)
      return context
    } catch (error) {
      await this.#unuse(adapter)
      throw noRoom(error)
    } finally {
      this.#promised -= size
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
