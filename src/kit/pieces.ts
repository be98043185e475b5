import { StringDecoder } from 'node:string_decoder'

/** Bytes in the pieces that they came in. They are copied only where one buffer is needed. */
export class BytePieces {
  readonly length: number
  #list: readonly Buffer[] | null
  #joined: Buffer | null = null

  constructor(list: readonly Buffer[]) {
    this.length = lengthOf(list)
    this.#list = list
  }

  get list(): readonly Buffer[] {
    return this.requireHeld()
  }

  /** Bytes whose memory was given back read as none at all: rather fail than take them for an empty text. */
  requireHeld(): readonly Buffer[] {
    if (this.#list === null) throw new Error('the memory of these bytes was given back')
    return this.#list
  }

  /** As one buffer, which is a copy where there are several pieces. */
  joined(): Buffer {
    const { list } = this
    this.#joined ??= list.length === 1 && list[0] !== undefined ? list[0] : Buffer.concat(list, this.length)
    return this.#joined
  }

  /** The pieces of a stretch. They share their memory with the whole. */
  between(start: number, end: number): readonly Buffer[] {
    const found: Buffer[] = []
    let at = 0
    for (const piece of this.list) {
      if (at >= end) break
      if (at + piece.length > start) found.push(piece.subarray(Math.max(0, start - at), end - at))
      at += piece.length
    }
    return found
  }

  /**
   * Gives the memory back at once: the garbage collector would go through the whole heap for it. Nobody may hold the bytes any more, least
   * of all a write to a socket that is not over. Memory that is shared with other bytes stays.
   */
  letGo(): void {
    for (const { buffer, byteLength } of this.list)
      if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && byteLength >= LET_GO_BYTES_MIN) buffer.transfer(0)
    this.#list = null
    this.#joined = null
  }
}

/** As many small pieces are joined to one: each takes about 150 bytes beside its own. */
const JOINED_AT = 1024

/** Bytes that come bit by bit, perhaps one at a time. */
export class CollectedBytes {
  readonly #joined: Buffer[] = []
  #latest: Buffer[] = []

  push(piece: Buffer): void {
    this.#latest.push(piece)
    if (this.#latest.length < JOINED_AT) return
    this.#joined.push(Buffer.concat(this.#latest))
    this.#latest = []
  }

  get whole(): Buffer {
    return Buffer.concat([...this.#joined, ...this.#latest])
  }
}

/** Of less the collector hardly takes notice. */
const LET_GO_BYTES_MIN = 4096

const NO_BYTES = Buffer.alloc(0)

const HELD = Symbol('the pieces of a body')

/** One getter for all of them: one for each would hold its pieces until V8 collects the whole heap. */
const JOINED: PropertyDescriptor & ThisType<{ readonly [HELD]: BytePieces }> = {
  get() {
    return this[HELD].joined()
  },
  enumerable: true,
}

/**
 * Gives an object its body. One in several pieces is joined when it is read, and has them as `pieces`. A copy of the object, which may have
 * another body, does not have those.
 */
export function withBody<T extends object>(
  holder: T,
  pieces: BytePieces,
): T & { readonly body: Uint8Array; readonly pieces?: readonly Uint8Array[] } {
  const { list } = pieces
  const whole = Object.assign(holder, { body: list[0] ?? NO_BYTES })
  if (list.length < 2) return whole
  Object.defineProperty(whole, HELD, { value: pieces })
  Object.defineProperty(whole, 'body', JOINED)
  return Object.defineProperty(whole, 'pieces', { value: list })
}

export function lengthOf(pieces: readonly Uint8Array[]): number {
  let length = 0
  for (const piece of pieces) length += piece.byteLength
  return length
}

/** A character may begin in one piece and end in another. */
export function textOf(pieces: readonly Uint8Array[]): string {
  const [first] = pieces
  if (pieces.length === 1 && first !== undefined) return Buffer.from(first.buffer, first.byteOffset, first.byteLength).toString()
  const decoder = new StringDecoder('utf8')
  let text = ''
  for (const piece of pieces) text += decoder.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))
  return text + decoder.end()
}
