/** Shingles of texts: hashes of pieces of twelve letters or digits, whatever their case, spacing and punctuation. */
import { isAscii } from './text.ts'

const SHINGLE = 12
const BASE = 0x01000193
const CHARACTERS_READ_MAX = 1024 * 1024
/** Of a longer text only some shingles are kept, the same ones of every text. */
const KEPT_MAX = 2048

/** Cyrillic and Greek letters that look like Latin ones, and those. */
const LOOKALIKES = '\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u03bf\u03b1\u03c1\u03bd\u03b9\u03ba\u03c4'
const LATIN = 'aeopcyxijsdhoapvikt'
const latin = (sign: string): string => LATIN[LOOKALIKES.indexOf(sign)] ?? sign

/** Letters and digits alone, in lower case, without marks. */
export function compact(text: string): string {
  const read = text.slice(0, CHARACTERS_READ_MAX)
  if (isAscii(read)) return read.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')
  return read
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
    .replaceAll(/[\u0370-\u052f]/g, latin)
}

/** Visits the hashes of all shingles of a compact text, by a rolling hash. */
export function eachShingle(text: string, visit: (hash: number) => void): void {
  if (text.length < SHINGLE) return
  let leaving = 1
  for (let n = 1; n < SHINGLE; n += 1) leaving = Math.imul(leaving, BASE)
  let hash = 0
  for (let n = 0; n < SHINGLE; n += 1) hash = (Math.imul(hash, BASE) + text.charCodeAt(n)) | 0
  for (let end = SHINGLE; ; end += 1) {
    visit(hash)
    if (end >= text.length) return
    hash = (Math.imul(hash - Math.imul(text.charCodeAt(end - SHINGLE), leaving), BASE) + text.charCodeAt(end)) | 0
  }
}

export interface Shingles {
  readonly hashes: ReadonlySet<number>
  /** How many shingles one of the kept stands for. */
  readonly step: number
}

/** The shingles of a compact text. */
export function shinglesOf(plain: string): Shingles {
  let step = 1
  while (plain.length / step > KEPT_MAX) step *= 2
  const hashes = new Set<number>()
  eachShingle(plain, (hash) => void ((hash >>> 0) % step === 0 && hashes.add(hash)))
  return { hashes, step }
}

/** How much two texts share of what both say, from 0 to 1; texts that are too short for a shingle share nothing. */
export function sharedShare(one: ReadonlySet<number>, other: ReadonlySet<number>): number {
  const [small, large] = one.size < other.size ? [one, other] : [other, one]
  if (small.size === 0) return 0
  let shared = 0
  for (const hash of small) if (large.has(hash)) shared += 1
  return shared / (one.size + other.size - shared)
}
