/** Takes a key that this service holds out of what others send: whole, in parts, and however it was encoded. */
import { readings } from './readings.ts'

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
  return partsRemover([key], PART)
}

/** The text without any run of so many characters of a key; without any of its words where one is found only after decoding. */
export function partsRemover(keys: readonly string[], partCharacters: number): (text: string) => string {
  const parts = partsOf(keys, partCharacters)
  const bareParts = partsOf(
    keys.map(lettersOf).filter((bare) => bare.length >= PART),
    partCharacters,
  )
  return (text) => {
    const cut = withoutParts(text, parts)
    return holdsDecoded(cut, parts, bareParts) ? REDACTED : cut
  }
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)

/** Every run of characters that gives a key away, by length, in lower case: a header may have been changed so. */
interface Parts {
  readonly byLength: ReadonlyMap<number, ReadonlySet<string>>
  /** How they begin, since most places of a text begin none. */
  readonly heads: ReadonlySet<string>
}

function partsOf(keys: readonly string[], partCharacters: number): Parts {
  const byLength = new Map<number, Set<string>>()
  const heads = new Set<string>()
  const add = (spelling: string, length: number): void => {
    const known = byLength.get(length) ?? new Set()
    for (let at = 0; at + length <= spelling.length; at += 1) {
      const part = lower(spelling.slice(at, at + length))
      known.add(part)
      heads.add(part.slice(0, 2))
    }
    byLength.set(length, known)
  }
  for (const key of keys) addSpellings(key, Math.min(partCharacters, key.length), add)
  return { byLength, heads }
}

function addSpellings(key: string, part: number, add: (spelling: string, length: number) => void): void {
  const bytes = Buffer.from(key)
  for (const spelling of [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1), Array.from(key).toReversed().join('')])
    add(spelling, part)
  add(bytes.toString('hex'), 2 * part)
  // Base64 of the key depends on how many bytes stand before it.
  for (const before of [0, 1, 2])
    for (const encoding of ['base64', 'base64url'] as const) {
      const whole = Buffer.concat([Buffer.alloc(before), bytes])
        .toString(encoding)
        .replaceAll('=', '')
      const sure = whole.slice(before === 0 ? 0 : before + 1, -1)
      add(sure, Math.min(Math.ceil(part * 1.5), sure.length))
    }
}

/** Keeps the length, unlike the letters of every alphabet. */
const lower = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())

function withoutParts(text: string, parts: Parts): string {
  const plain = lower(text)
  let cut = ''
  let kept = 0
  let end = -1
  for (let at = 0; at < text.length; at += 1) {
    if (!parts.heads.has(plain.slice(at, at + 2))) continue
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
