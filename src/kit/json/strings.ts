/**
 * The texts of JSON. Where they end is found sixteen bytes at a time. Long bodies are mostly text, which JSON.parse would build and a loop
 * would read byte by byte; scripts have no instructions for more at once, WebAssembly has.
 */
import { answer, branch, branchIf, compile, local, loop, moduleOf, number, vector, when, type Instance } from './wasm.ts'
import { lengthOf } from '../pieces.ts'
import { BACKSLASH, QUOTE } from './bytes.ts'

/** Where the closing quote of the text stands that begins with this one; -1 where it has none, or is no JSON. */
export type StringEnds = (quote: number) => number

/** A document that came in pieces, as one text. Usable until the next one is opened: its memory is used again. */
export interface OpenDocument {
  readonly text: Buffer
  readonly ends: StringEnds
}

const FIRST_PRINTABLE = 0x20
const ESCAPED = Buffer.from('"\\/bfnrt')
const ESCAPE_U = 0x75

const AT = 0
const LENGTH = 1
const BYTES = 2
const FOUND = 3
const NONE = answer(number.of(-1))
const go = (bytes: number) => [...local.get(AT), ...number.of(bytes), ...number.add]

/** Takes where a text begins, behind its quote, and the length of the document. */
const PROGRAM = moduleOf(
  loop(
    // Quotes, backslashes and control characters among the next sixteen bytes.
    [...local.get(AT), ...vector.at, ...local.tee(BYTES), ...vector.of(QUOTE), ...vector.equals],
    [...local.get(BYTES), ...vector.of(BACKSLASH), ...vector.equals, ...vector.or],
    [...local.get(BYTES), ...vector.of(FIRST_PRINTABLE), ...vector.isBelow, ...vector.or],
    [...vector.bits, ...local.tee(FOUND), ...number.isZero],
    when([...go(16), ...local.tee(AT), ...local.get(LENGTH), ...number.isBelow, ...branchIf(1)], NONE),
    // The first of them. The memory behind the document holds what was there before.
    [...local.get(AT), ...local.get(FOUND), ...number.trailingZeros, ...number.add, ...local.tee(AT)],
    [...local.get(LENGTH), ...number.isAtLeast],
    when(NONE),
    [...local.get(AT), ...number.byteAt(0), ...number.of(QUOTE), ...number.equals],
    when(answer(local.get(AT))),
    [...local.get(AT), ...number.byteAt(0), ...number.of(BACKSLASH), ...number.differs],
    when(NONE),
    // An escape of one character.
    [...local.get(AT), ...number.byteAt(1), ...vector.filledWith, ...vector.of(...ESCAPED), ...vector.equals, ...vector.isAny],
    when([...go(2), ...local.set(AT)], branch(1)),
    // An escape of four digits.
    [...local.get(AT), ...number.byteAt(1), ...number.of(ESCAPE_U), ...number.differs],
    when(NONE),
    [...local.get(AT), ...vector.fourBytesAt(2), ...local.tee(BYTES)],
    [...vector.of(0x30), ...vector.minus, ...vector.of(10), ...vector.isBelow],
    [...local.get(BYTES), ...vector.of(0x20), ...vector.or],
    [...vector.of(0x61), ...vector.minus, ...vector.of(6), ...vector.isBelow, ...vector.or],
    [...vector.bits, ...number.of(0b1111), ...number.and, ...number.of(0b1111), ...number.equals],
    when([...go(6), ...local.set(AT)], branch(1)),
  ),
  number.of(-1),
)

const PAGE_BYTES = 64 * 1024
/** A vector, or an escape, may reach past the end of the document. */
const MARGIN_BYTES = 32
/** Memory for longer documents is let go of. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024

class Scanner {
  readonly #instance: Instance
  #bytes: Buffer

  constructor(instance: Instance) {
    this.#instance = instance
    this.#bytes = Buffer.from(instance.memory.buffer)
  }

  open(pieces: readonly Uint8Array[], length: number): OpenDocument {
    const missing = length + MARGIN_BYTES - this.#bytes.length
    if (missing > 0) {
      this.#instance.memory.grow(Math.ceil(missing / PAGE_BYTES))
      this.#bytes = Buffer.from(this.#instance.memory.buffer)
    }
    let at = 0
    for (const piece of pieces) {
      this.#bytes.set(piece, at)
      at += piece.length
    }
    const { run } = this.#instance
    return { text: this.#bytes.subarray(0, length), ends: (quote) => run(quote + 1, length) }
  }
}

const instantiate = compile(PROGRAM)
let kept: Scanner | null = null

export function openDocument(pieces: readonly Uint8Array[]): OpenDocument {
  if (instantiate === null) {
    const text = Buffer.concat(pieces)
    return { text, ends: (quote) => endOfString(text, quote) }
  }
  const length = lengthOf(pieces)
  if (length > KEPT_BYTES_MAX) return new Scanner(instantiate()).open(pieces, length)
  kept ??= new Scanner(instantiate())
  return kept.open(pieces, length)
}

/** The text between these two quotes, which was checked. */
export function readString(bytes: Buffer, start: number, end: number): string {
  const written = bytes.toString('utf8', start + 1, end)
  return written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written
}

const isEscaped = new Set(ESCAPED)
const isHexDigit = (byte: number): boolean => (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)

/** The same byte by byte, for processors without such instructions. */
export function endOfString(bytes: Buffer, quote: number): number {
  for (let at = quote + 1; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) return at
    if (byte < FIRST_PRINTABLE) return -1
    if (byte !== BACKSLASH) continue
    at += 1
    const escaped = bytes[at] ?? 0
    if (escaped === ESCAPE_U) {
      for (let digit = 1; digit <= 4; digit += 1) if (!isHexDigit(bytes[at + digit] ?? 0)) return -1
      at += 4
    } else if (!isEscaped.has(escaped)) return -1
  }
  return -1
}
