/** Checks that bytes are JSON without building their values: memory stays at a byte per level, whatever the text holds. */
import { isUtf8 } from 'node:buffer'
import { CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, isSpace, MINUS, OPEN_LIST, OPEN_OBJECT, QUOTE } from './bytes.ts'
import type { Member } from './parts.ts'
import { openDocument, readString, type OpenDocument, type StringEnds } from './strings.ts'

export interface JsonRules {
  readonly depthMax: number
  /** Whether a key may stand only once in an object. */
  readonly uniqueKeys: boolean
  /** Whether a whole number must be one that a double keeps to the last digit. Numbers beyond a double's range pass. */
  readonly exactIntegers?: boolean
}

export type JsonFault =
  | { readonly kind: 'not_utf8' }
  /** Where the key, text, number or mark begins that does not belong there. */
  | { readonly kind: 'malformed'; readonly at: number }
  | { readonly kind: 'inexact_integer'; readonly at: number }
  | { readonly kind: 'too_deep' }
  | { readonly kind: 'repeated_key'; readonly key: string }

/** What the text must go on with. */
const VALUE = 0
const VALUE_OR_CLOSE = 1
const KEY = 2
const KEY_OR_CLOSE = 3
const COMMA_OR_CLOSE = 4
const NOTHING = 5

/** Lists of bytes up to this length lie with other objects, and are cheap to make. */
const USUAL_DEPTH_MAX = 64

const IN_LIST = 0
const IN_OBJECT = 1

type See = (member: Member) => void

/** The first thing that is wrong with the text, or null. On the way `see` is told each member of the outermost object; it may not check another text. */
export function faultInJson(bytes: Buffer, rules: JsonRules, see?: See): JsonFault | null {
  return faultInDocument(openDocument([bytes]), rules, see)
}

/** The same for a document that was opened. */
export function faultInDocument(document: OpenDocument, rules: JsonRules, see: See = () => undefined): JsonFault | null {
  return isUtf8(document.text) ? new Check(document, rules, see).run() : { kind: 'not_utf8' }
}

class Check {
  readonly #bytes: Buffer
  readonly #rules: JsonRules
  readonly #ends: StringEnds
  readonly #see: See
  #open = new Uint8Array(USUAL_DEPTH_MAX)
  #depth = 0
  /** The keys of each open object, once it has one. */
  readonly #keys: (Set<string> | undefined)[] = []
  #repeated: string | null = null
  /** The quotes of the key that the outermost object is at, and where its value begins. */
  #from = 0
  #quote = 0
  #begin = 0

  constructor({ text, ends }: OpenDocument, rules: JsonRules, see: See) {
    this.#bytes = text
    this.#rules = rules
    this.#ends = ends
    this.#see = see
  }

  run(): JsonFault | null {
    const bytes = this.#bytes
    let expected = VALUE
    let at = 0
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0
      if (isSpace(byte)) continue
      if (expected === KEY || expected === KEY_OR_CLOSE) {
        if (byte === CLOSE_OBJECT && expected === KEY_OR_CLOSE) {
          expected = this.#close(at)
          continue
        }
        const colon = byte === QUOTE ? this.#endOfKey(at) : -1
        if (this.#repeated !== null) return { kind: 'repeated_key', key: this.#repeated }
        if (colon === -1) break
        at = colon
        expected = VALUE
      } else if (expected === COMMA_OR_CLOSE) {
        const isInObject = this.#open[this.#depth - 1] === IN_OBJECT
        if (byte === COMMA) expected = isInObject ? KEY : VALUE
        else if (byte === (isInObject ? CLOSE_OBJECT : CLOSE_LIST)) expected = this.#close(at)
        else break
      } else if (expected === NOTHING) {
        break
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (this.#depth === this.#rules.depthMax) return { kind: 'too_deep' }
        if (this.#depth === 1) this.#begin = at
        this.#push(byte === OPEN_OBJECT ? IN_OBJECT : IN_LIST)
        expected = byte === OPEN_OBJECT ? KEY_OR_CLOSE : VALUE_OR_CLOSE
      } else if (byte === CLOSE_LIST && expected === VALUE_OR_CLOSE) {
        expected = this.#close(at)
      } else {
        const end = byte === QUOTE ? this.#ends(at) : endOfScalar(bytes, at, byte)
        if (end === -1) break
        if (this.#rules.exactIntegers === true && isInexact(bytes, at, end)) return { kind: 'inexact_integer', at }
        if (this.#depth === 1) this.#tell(at, end)
        at = end
        expected = this.#depth === 0 ? NOTHING : COMMA_OR_CLOSE
      }
    }
    return expected === NOTHING && at === bytes.length ? null : { kind: 'malformed', at }
  }

  #push(kind: number): void {
    if (this.#depth === this.#open.length) {
      const larger = new Uint8Array(this.#open.length * 2)
      larger.set(this.#open)
      this.#open = larger
    }
    this.#open[this.#depth] = kind
    this.#depth += 1
  }

  #close(at: number): number {
    this.#depth -= 1
    if (this.#depth === 1) this.#tell(this.#begin, at)
    if (this.#keys.length > this.#depth) this.#keys.length = this.#depth
    return this.#depth === 0 ? NOTHING : COMMA_OR_CLOSE
  }

  #tell(start: number, last: number): void {
    if (this.#open[0] !== IN_OBJECT) return
    this.#see({ key: readString(this.#bytes, this.#from, this.#quote), from: this.#from, start, end: last + 1 })
  }

  /** Where the colon behind the key stands, or -1. */
  #endOfKey(start: number): number {
    const end = this.#ends(start)
    if (end === -1) return -1
    if (this.#depth === 1) {
      this.#from = start
      this.#quote = end
    }
    if (this.#rules.uniqueKeys) this.#note(start, end)
    let at = end + 1
    while (isSpace(this.#bytes[at] ?? 0)) at += 1
    return this.#bytes[at] === COLON ? at : -1
  }

  #note(start: number, end: number): void {
    const key = readString(this.#bytes, start, end)
    const level = this.#depth - 1
    const known = this.#keys[level]
    if (known === undefined) this.#keys[level] = new Set([key])
    else if (known.has(key)) this.#repeated = key
    else known.add(key)
  }
}

/** The last byte of the number or word that begins here, or -1. */
function endOfScalar(bytes: Buffer, at: number, first: number): number {
  if (first === MINUS || isDigit(first)) return endOfNumber(bytes, at)
  return endOfWord(bytes, at, first)
}

const ZERO = 0x30
const NINE = 0x39
const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE

function endOfNumber(bytes: Buffer, start: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start
  const first = bytes[at] ?? 0
  if (!isDigit(first)) return -1
  at = first === ZERO ? at + 1 : pastDigits(bytes, at)
  if (bytes[at] === 0x2e) {
    if (!isDigit(bytes[at + 1] ?? 0)) return -1
    at = pastDigits(bytes, at + 1)
  }
  if (((bytes[at] ?? 0) | 0x20) !== 0x65) return at - 1
  at += bytes[at + 1] === MINUS || bytes[at + 1] === 0x2b ? 2 : 1
  return isDigit(bytes[at] ?? 0) ? pastDigits(bytes, at) - 1 : -1
}

/** Whole numbers of so many digits are always kept. */
const SAFE_DIGITS = 15

function isInexact(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < SAFE_DIGITS || bytes[start] === QUOTE) return false
  const written = bytes.toString('latin1', start, end + 1)
  const value = Number(written)
  return /^-?\d+$/.test(written) && Number.isFinite(value) && BigInt(value) !== BigInt(written)
}

function pastDigits(bytes: Buffer, start: number): number {
  let at = start
  while (isDigit(bytes[at] ?? 0)) at += 1
  return at
}

const WORDS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]))

function endOfWord(bytes: Buffer, at: number, first: number): number {
  const word = WORDS.get(first)
  return word !== undefined && bytes.subarray(at, at + word.length).equals(word) ? at + word.length - 1 : -1
}
