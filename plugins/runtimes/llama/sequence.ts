/** One transcript in a context: the tokens that it holds, and what is read after more of them. */
import { BATCH_TOKENS, type Base } from './base.ts'
import type { LlamaContext, LlamaSequence } from './library.ts'
import { TokenReader, type TokenPlace } from './place.ts'

/** The library's usual one. */
const PRIORITY = 5

export class Sequence {
  readonly #native: LlamaSequence
  readonly #reader: TokenReader
  #tokens: number[] = []
  /** How many tokens were evaluated in whole batches, which give the same numbers to the last bit. */
  #whole = 0
  /** After a failure its state is unknown. */
  #isBroken = false

  constructor(base: Base, context: LlamaContext) {
    this.#native = context.getSequence()
    this.#reader = new TokenReader(base, context)
  }

  get tokens(): readonly number[] {
    return this.#tokens
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  /** How many tokens of a transcript need no second evaluation. Where numbers must be exact, only whole batches: they do not depend on the call before. */
  reusable(transcript: readonly number[], isExact: boolean): number {
    const different = this.#tokens.findIndex((token, at) => token !== transcript[at])
    const same = Math.min(different === -1 ? this.#tokens.length : different, transcript.length - 1)
    const whole = Math.min(same, this.#whole)
    return isExact ? whole - (whole % BATCH_TOKENS) : same
  }

  /** Reads what comes after each token of the piece from a place on. */
  async evaluate<T>(
    piece: readonly number[],
    readFrom: number,
    read: (place: TokenPlace, at: number) => Promise<T>,
  ): Promise<readonly T[]> {
    try {
      const isRead = piece.map((_, at) => at >= readFrom)
      // A failure within would reach nobody: it is thrown here.
      const settled = (index: number, at: number) => Promise.allSettled([read(this.#reader.at(index), at)])
      const results = await this.#native._decodeTokens(piece, isRead, PRIORITY, undefined, {}, settled)
      if (this.#whole === this.#tokens.length && piece.length === BATCH_TOKENS) this.#whole += BATCH_TOKENS
      this.#tokens.push(...piece)
      return results.slice(readFrom).map(valueOf)
    } catch (error) {
      this.#isBroken = true
      throw error
    }
  }

  async cut(at: number): Promise<void> {
    await this.#native.eraseContextTokenRanges([{ start: at, end: this.#tokens.length }])
    if (this.#native.nextTokenIndex !== at) {
      if (at === 0) throw new Error('a context did not forget what it held')
      // Not every kind of model can forget its last tokens alone.
      return this.cut(0)
    }
    this.#tokens.length = at
    this.#whole = Math.min(this.#whole, at - (at % BATCH_TOKENS))
  }

  dispose(): void {
    this.#reader.dispose()
  }
}

function valueOf<T>(results: readonly PromiseSettledResult<T>[] | undefined): T {
  const [result] = results ?? []
  if (result === undefined) throw new Error('the library read nothing')
  if (result.status === 'rejected') throw result.reason
  return result.value
}
