/** How much all bodies in flight take together, in all threads: counted as they come, until their answers are over. */
import { BODIES_BYTES_MAX, INLINE_BODY_BYTES_MAX, unavailable } from '../../contract/index.ts'

const RETRY_AFTER_SECONDS = 1
const NO_ROOM = 'the large bodies in flight take all the room there is for them; send the request again in a moment'

/** What each thread holds, in memory that they share. A thread changes its own slot alone. */
export interface HeldBytes {
  readonly all: Int32Array
  readonly slot: number
}

export class BodyBudget {
  readonly #bytesMax: number
  readonly #held: HeldBytes

  constructor(bytesMax = BODIES_BYTES_MAX, held: HeldBytes = { all: new Int32Array(1), slot: 0 }) {
    this.#bytesMax = bytesMax
    this.#held = held
  }

  get bytes(): number {
    const { all } = this.#held
    let sum = 0
    for (let slot = 0; slot < all.length; slot += 1) sum += Atomics.load(all, slot)
    return sum
  }

  open(): BodyHold {
    return new BodyHold((bytes) => this.#take(bytes))
  }

  #take(bytes: number): boolean {
    if (bytes > 0 && this.bytes + bytes > this.#bytesMax) return false
    if (bytes !== 0) Atomics.add(this.#held.all, this.#held.slot, bytes)
    return true
  }
}

/** What one request holds of the budget. Short bodies are never counted, and so never refused for the sake of long ones. */
export class BodyHold {
  readonly #take: (bytes: number) => boolean
  #come = 0
  #held = 0

  constructor(take: (bytes: number) => boolean) {
    this.#take = take
  }

  add(bytes: number): void {
    this.#come += bytes
    const more = Math.max(0, this.#come - INLINE_BODY_BYTES_MAX) - this.#held
    if (!this.#take(more)) throw unavailable('bodies_in_flight', NO_ROOM, { retryAfterSeconds: RETRY_AFTER_SECONDS })
    this.#held += more
  }

  close(): void {
    this.#take(-this.#held)
    this.#held = 0
  }
}
