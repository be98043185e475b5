/** Contexts of the base model, each with one adapter or none: as many as generate at once, kept for whoever comes next. */
import { BATCH_TOKENS, noRoom, type Base } from './base.ts'
import type { EvaluateItem, EvaluateOutput, LlamaContext, LlamaSequence } from './library.ts'
import { Slots } from '../../../src/kit/index.ts'

/** One context, and what it holds. */
export class Seat {
  /** The adapter's file; null is the base alone. */
  readonly adapter: string | null
  readonly #context: LlamaContext
  readonly #sequence: LlamaSequence
  #tokens: number[] = []
  /** How many of them were evaluated in whole batches: evaluating them so again gives the same to the last bit. */
  #whole = 0

  constructor(adapter: string | null, context: LlamaContext) {
    this.adapter = adapter
    this.#context = context
    this.#sequence = context.getSequence()
  }

  get tokens(): readonly number[] {
    return this.#tokens
  }

  /** How much of a transcript need not be evaluated again. Only whole batches: a call must not say something else because of the call before it. */
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

  /** Forgets everything from there on. */
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
    return this.#context.dispose()
  }
}

export class Seats {
  readonly #base: Base
  readonly #count: number
  readonly #slots: Slots
  /** The one that was left longest ago comes first. */
  readonly #idle: Seat[] = []
  /** How many contexts an adapter is in, made or being made. */
  readonly #uses = new Map<string, number>()
  readonly #isWanted: (adapter: string) => boolean

  constructor(base: Base, count: number, isWanted: (adapter: string) => boolean) {
    this.#base = base
    this.#count = count
    this.#slots = new Slots(count)
    this.#isWanted = isWanted
  }

  get generating(): number {
    return this.#slots.taken
  }

  get waiting(): number {
    return this.#slots.waiting
  }

  get contexts(): number {
    return this.#idle.length + this.#slots.taken
  }

  /** Waits for a free place, and holds it for as long as the work takes. */
  during<T>(signal: AbortSignal, work: (place: Place) => Promise<T>): Promise<T> {
    return this.#slots.run(async () => {
      const place = new Place(this)
      try {
        return await work(place)
      } catch (error) {
        await place.giveUp()
        throw error
      } finally {
        await place.leave()
      }
    }, signal)
  }

  async sit(adapter: string | null, transcript: readonly number[]): Promise<Seat> {
    const [best] = this.#idle.filter((seat) => seat.adapter === adapter).sort((a, b) => b.reusable(transcript) - a.reusable(transcript))
    if (best === undefined) return this.#make(adapter)
    this.#idle.splice(this.#idle.indexOf(best), 1)
    await best.cut(best.reusable(transcript))
    return best
  }

  async leave(seat: Seat): Promise<void> {
    if (seat.adapter !== null && !this.#isWanted(seat.adapter)) return this.remove(seat)
    this.#idle.push(seat)
  }

  async remove(seat: Seat): Promise<void> {
    await seat.dispose()
    await this.#unuse(seat.adapter)
  }

  /** A context of its own, beside the places: publishing does not wait for generations to end. */
  async try(adapter: string): Promise<void> {
    this.#use(adapter)
    try {
      await this.#base.tryAdapter(adapter)
    } finally {
      await this.#unuse(adapter)
    }
  }

  /** Called when an adapter may be wanted no more. Those in use go when they are left. */
  async tidy(): Promise<void> {
    const unwanted = this.#idle.filter(({ adapter }) => adapter !== null && !this.#isWanted(adapter))
    for (const seat of unwanted) this.#idle.splice(this.#idle.indexOf(seat), 1)
    await Promise.all(unwanted.map((seat) => this.remove(seat)))
    const unused = [...this.#uses].filter(([adapter, uses]) => uses === 0 && !this.#isWanted(adapter))
    await Promise.all(unused.map(([adapter]) => this.#free(adapter)))
  }

  /** Nobody may come any more. */
  async close(): Promise<void> {
    await this.#slots.shut()
    await Promise.all(this.#idle.splice(0).map((seat) => seat.dispose()))
  }

  /** Never more contexts than places: the oldest that nobody sits in makes room. */
  async #make(adapter: string | null): Promise<Seat> {
    while (this.#idle.length > 0 && this.#idle.length + this.#slots.taken > this.#count) {
      const [oldest] = this.#idle.splice(0, 1)
      if (oldest !== undefined) await this.remove(oldest)
    }
    this.#use(adapter)
    try {
      return new Seat(adapter, await this.#base.createContext(adapter))
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

/** The place of one call: it sits in one context at a time. */
export class Place {
  readonly #seats: Seats
  #seat: Seat | null = null

  constructor(seats: Seats) {
    this.#seats = seats
  }

  /** The seat it has, where that has the adapter; else it moves to one that has, and reads the transcript there. */
  async sitWith(adapter: string | null, transcript: readonly number[]): Promise<Seat> {
    if (this.#seat?.adapter === adapter) return this.#seat
    await this.leave()
    this.#seat = await this.#seats.sit(adapter, transcript)
    return this.#seat
  }

  async leave(): Promise<void> {
    const seat = this.#seat
    this.#seat = null
    if (seat !== null) await this.#seats.leave(seat)
  }

  /** What a context holds after a failure is nobody's to go on from. */
  async giveUp(): Promise<void> {
    const seat = this.#seat
    this.#seat = null
    if (seat !== null) await this.#seats.remove(seat)
  }
}
