/** Takes JSON text apart and puts it together again as text, so that every digit and every escape stays as it was sent. */
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COMMA, isSpace, OPEN_LIST, OPEN_OBJECT, QUOTE } from './bytes.ts'
import { BytePieces } from '../pieces.ts'
import { readString } from './strings.ts'

/** From the first byte up to, and without, the last number. */
export interface Span {
  readonly start: number
  readonly end: number
}
export interface Member extends Span {
  readonly key: string
  /** Where its key begins; the span is its value's. */
  readonly from: number
}

/** The members of the object that begins there. The text was checked: what is no JSON is not noticed here. */
export function* membersOf(bytes: Buffer, start = firstOf(bytes)): Generator<Member> {
  let at = pastSpace(bytes, start + 1)
  while (bytes[at] === QUOTE) {
    const from = at
    const quote = endOfString(bytes, at)
    const begin = pastSpace(bytes, pastSpace(bytes, quote + 1) + 1)
    const end = endOfValue(bytes, begin)
    yield { key: readString(bytes, from, quote), from, start: begin, end }
    at = pastSpace(bytes, pastSpace(bytes, end) + 1)
  }
}

/** The elements of the list that begins there. */
export function* elementsOf(bytes: Buffer, start: number): Generator<Span> {
  let at = pastSpace(bytes, start + 1)
  while (at < bytes.length && bytes[at] !== CLOSE_LIST) {
    const end = endOfValue(bytes, at)
    yield { start: at, end }
    const mark = pastSpace(bytes, end)
    if (bytes[mark] !== COMMA) return
    at = pastSpace(bytes, mark + 1)
  }
}

export const firstOf = (bytes: Buffer): number => pastSpace(bytes, 0)
export const isObjectAt = (bytes: Buffer, start: number): boolean => bytes[start] === OPEN_OBJECT
export const isListAt = (bytes: Buffer, start: number): boolean => bytes[start] === OPEN_LIST

/** An object's text without some of its members. */
export interface Cut {
  /** The stretches of text that stay, each of whole members. */
  readonly kept: readonly Span[]
  /** The values that were cut out, by key; of a key that stands twice, the last. */
  readonly values: ReadonlyMap<string, Span>
}

export function cutOut(bytes: Buffer, keys: readonly string[], start = firstOf(bytes)): Cut {
  const cutting = new Cutting(keys)
  for (const member of membersOf(bytes, start)) cutting.pass(member)
  return cutting.end()
}

/** A cut that is made while an object's members are passed. */
export class Cutting {
  readonly #keys: readonly string[]
  readonly #kept: Span[] = []
  readonly #values = new Map<string, Span>()
  #first = -1
  #last = -1

  constructor(keys: readonly string[]) {
    this.#keys = keys
  }

  pass({ key, from, start, end }: Member): void {
    if (this.#keys.includes(key)) {
      this.#values.set(key, { start, end })
      this.#close()
      return
    }
    if (this.#first === -1) this.#first = from
    this.#last = end
  }

  end(): Cut {
    this.#close()
    return { kept: this.#kept, values: this.#values }
  }

  #close(): void {
    if (this.#first !== -1) this.#kept.push({ start: this.#first, end: this.#last })
    this.#first = -1
  }
}

/** Members by key, each value already text. */
export type Members = ReadonlyMap<string, Uint8Array | string>

/** An object of what a cut left and these members more. */
export function joined(bytes: Buffer, cut: Pick<Cut, 'kept'>, members: Members): Buffer {
  return Buffer.concat(piecesOf(new BytePieces([bytes]), cut, members))
}

/** The same, not put together yet. A member more, the last, may be in pieces itself. */
export function piecesOf(
  bytes: BytePieces,
  { kept }: Pick<Cut, 'kept'>,
  members: Members,
  last?: { readonly key: string; readonly value: readonly Uint8Array[] },
): readonly Uint8Array[] {
  const pieces: Uint8Array[] = []
  const nameOf = (key: string): string => `${pieces.length === 0 ? '{' : ','}${JSON.stringify(key)}:`
  for (const { start, end } of kept) pieces.push(pieces.length === 0 ? BEGIN_OF_OBJECT : NEXT, ...bytes.between(start, end))
  for (const [key, value] of members) {
    if (typeof value === 'string') pieces.push(Buffer.from(nameOf(key) + value))
    else pieces.push(Buffer.from(nameOf(key)), value)
  }
  if (last !== undefined) pieces.push(Buffer.from(nameOf(last.key)), ...last.value)
  pieces.push(pieces.length === 0 ? EMPTY_OBJECT : END_OF_OBJECT)
  return pieces
}

const EMPTY_OBJECT = Buffer.from('{}')
const BEGIN_OF_OBJECT = Buffer.from('{')
const NEXT = Buffer.from(',')
const END_OF_OBJECT = Buffer.from('}')

function pastSpace(bytes: Buffer, start: number): number {
  let at = start
  while (isSpace(bytes[at] ?? 0)) at += 1
  return at
}

/** Past the value that begins there. */
function endOfValue(bytes: Buffer, start: number): number {
  const first = bytes[start] ?? 0
  if (first === QUOTE) return endOfString(bytes, start) + 1
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) return pastScalar(bytes, start)
  let depth = 0
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return bytes.length
}

function pastScalar(bytes: Buffer, start: number): number {
  let at = start
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || isSpace(byte)) break
  }
  return at
}

function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) break
    if (byte === BACKSLASH) at += 1
  }
  return at
}
