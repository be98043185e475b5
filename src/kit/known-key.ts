/** Takes a key that this service holds out of what others send: whole, in parts, and however it was encoded. */
import { readings } from './readings.ts'
import { isAscii } from './text.ts'

const REDACTED = '[redacted]'
/** Fewer characters of a key than these are no secret, and occur in any text. */
const PART = 8

/** The text without the key; without any of its words where the key is found only after decoding. */
export const withoutKey = (text: string, key: string | null): string => keyRemover(key)(text)

/** The same for many texts: what gives the key away is worked out once. */
export function keyRemover(key: string | null): (text: string) => string {
  if (key === null || key === '') return (text) => text
  if (key.length < PART) {
    const word = new RegExp(`(?<![A-Za-z0-9])${escaped(key)}(?![A-Za-z0-9])`, 'g')
    return (text) => text.replaceAll(word, REDACTED)
  }
  const parts = new KeyParts(PART)
  parts.add(key)
  return (text) => parts.without(text)
}

/** The runs of so many characters that give one of these keys away. */
export class KeyParts {
  readonly #part: number
  readonly #parts = noParts()
  /** Of the keys' letters alone. */
  readonly #bare = noParts()
  /** Keys that no text was searched for yet: most of those that come and go with an episode never are. */
  readonly #unread: string[] = []

  constructor(partCharacters: number) {
    this.#part = partCharacters
  }

  add(key: string): void {
    this.#unread.push(key)
  }

  #read(key: string): void {
    addSpellings(key, Math.min(this.#part, key.length), this.#parts)
    const bare = lettersOf(key)
    if (bare.length >= PART) addSpellings(bare, Math.min(this.#part, bare.length), this.#bare)
  }

  /** The text without them; without any of its words where one is found only after decoding. */
  without(text: string): string {
    for (const key of this.#unread.splice(0)) this.#read(key)
    // Nothing is longer once it is decoded, apart from letters beyond ASCII.
    if (text.length < Math.min(this.#parts.shortest, this.#bare.shortest) && isAscii(text)) return text
    const cut = withoutParts(text, this.#parts)
    return holdsDecoded(cut, this.#parts, this.#bare) ? REDACTED : cut
  }
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)

/** By length, in lower case: a header may have been changed so. */
interface Parts {
  readonly byLength: Map<number, Set<string>>
  shortest: number
  /** Whether one begins so, by two characters: most places of a text begin none. */
  readonly heads: Uint8Array
}

const noParts = (): Parts => ({ byLength: new Map(), shortest: Number.POSITIVE_INFINITY, heads: new Uint8Array(0x1_00_00) })

/** Two that share a place are told apart by the whole part. */
const headAt = (text: string, at: number): number => ((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff)

function addSpellings(key: string, part: number, parts: Parts): void {
  const bytes = Buffer.from(key)
  for (const spelling of [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1), Array.from(key).toReversed().join('')])
    addRuns(spelling, part, parts)
  addRuns(bytes.toString('hex'), 2 * part, parts)
  // Base64 of the key depends on how many bytes stand before it.
  for (const before of [0, 1, 2])
    for (const encoding of ['base64', 'base64url'] as const) {
      const whole = Buffer.concat([Buffer.alloc(before), bytes])
        .toString(encoding)
        .replaceAll('=', '')
      const sure = whole.slice(before === 0 ? 0 : before + 1, -1)
      addRuns(sure, Math.min(Math.ceil(part * 1.5), sure.length), parts)
    }
}

function addRuns(spelling: string, length: number, parts: Parts): void {
  const { byLength, heads } = parts
  const known = byLength.get(length) ?? new Set()
  const plain = lower(spelling)
  for (let at = 0; at + length <= plain.length; at += 1) {
    known.add(plain.slice(at, at + length))
    heads[headAt(plain, at)] = 1
  }
  byLength.set(length, known)
  parts.shortest = Math.min(parts.shortest, length)
}

/** Keeps the length, unlike the letters of every alphabet. */
const lower = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())

function withoutParts(text: string, parts: Parts): string {
  const plain = lower(text)
  let cut = ''
  let kept = 0
  let end = -1
  for (let at = 0; at < text.length; at += 1) {
    if (parts.heads[headAt(plain, at)] === 0) continue
    for (const [length, known] of parts.byLength) {
      if (!known.has(plain.slice(at, at + length))) continue
      if (at > end) cut += text.slice(kept, at) + REDACTED
      end = Math.max(end, at + length)
      kept = end
    }
  }
  return kept === 0 ? text : cut + text.slice(kept)
}

function holdsDecoded(text: string, parts: Parts, bareParts: Parts): boolean {
  const holds = (reading: string): boolean => withoutParts(reading, parts) !== reading
  if (readings(text).some(holds)) return true
  return withoutParts(lettersOf(text), bareParts) !== lettersOf(text)
}

/** Spaces, dashes and quotes between its letters do not hide a key. */
const lettersOf = (text: string): string => text.replaceAll(/[^A-Za-z0-9]+/g, '')
