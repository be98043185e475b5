/** A call's body on its way to the upstream, in the pieces that it came in. */
import type { Dispatcher } from 'undici'

export class SentBody {
  readonly pieces: readonly Uint8Array[]
  #isTaken = false

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces
  }

  /** Whether the connection was handed all of it. */
  get isTaken(): boolean {
    return this.#isTaken
  }

  /** What a connection sends. One piece is handed over at once; of several, each waits until there is room for it. */
  toSend(): NonNullable<Dispatcher.DispatchOptions['body']> {
    const [first] = this.pieces
    if (this.pieces.length === 1 && first !== undefined) {
      this.#isTaken = true
      return first
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client takes everything that can be iterated over; its types leave that out
    return this.#each() as unknown as Uint8Array
  }

  *#each(): Generator<Uint8Array> {
    yield* this.pieces
    this.#isTaken = true
  }
}
