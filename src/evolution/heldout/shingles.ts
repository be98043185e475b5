/** Compares texts by their shingles: pieces of twelve letters or digits, whatever their case, spacing and punctuation. */

const SHINGLE = 12
const BASE = 0x01000193
/** Of a longer text only some shingles are kept, the same ones on both sides. */
const KEPT_MAX = 2048
const CHARACTERS_READ_MAX = 1024 * 1024

/** Cyrillic and Greek letters that look like Latin ones, and those. */
const LOOKALIKES = '\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u03bf\u03b1\u03c1\u03bd\u03b9\u03ba\u03c4'
const LATIN = 'aeopcyxijsdhoapvikt'
const latin = (sign: string): string => LATIN[LOOKALIKES.indexOf(sign)] ?? sign

/** Letters and digits alone, in lower case, without marks. */
export function compact(text: string): string {
  const read = text.slice(0, CHARACTERS_READ_MAX)
  if (ASCII.test(read)) return read.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')
  return read
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
    .replaceAll(/[\u0370-\u052f]/g, latin)
}
// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/

/** How far each letter is from the one before: the same whatever the alphabet is shifted by. Upper case, so that it meets no other text. */
export function steps(plain: string): string {
  const letters = plain.replaceAll(/[^a-z]+/g, '')
  const codes = new Uint16Array(Math.max(0, letters.length - 1))
  for (let at = 1; at < letters.length; at += 1)
    codes[at - 1] = FIRST_STEP + ((letters.charCodeAt(at) - letters.charCodeAt(at - 1) + LETTERS) % LETTERS)
  return Buffer.from(codes.buffer).toString('utf16le')
}
const LETTERS = 26
const FIRST_STEP = 'A'.charCodeAt(0)

/** Visits the hashes of all shingles of a compact text, by a rolling hash. */
function eachShingle(text: string, visit: (hash: number) => void): void {
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

/** A held-out text, and the task that it belongs to. */
export interface HeldOutText {
  readonly task: string
  readonly text: string
  /** Looked for in this shape of it. */
  readonly shape?: (plain: string) => string
}

interface Indexed {
  readonly task: string
  readonly hashes: ReadonlySet<number>
  /** How many shingles one of the kept stands for. */
  readonly step: number
}

/** How much makes a quotation. */
export interface QuoteRule {
  /** The share of a text that must be there, and of what no other task has. */
  readonly share: number
  /** About as many letters in a row, of what no other task has, are a quotation of any text. */
  readonly letters: number
}
/** A text of fewer shingles may occur by chance. */
const SHINGLES_MIN = 9

/** Held-out texts, ready to be looked for. */
export class ShingleIndex {
  readonly #texts: readonly Indexed[]
  /** The tasks that have a shingle. Those with more than one, or known from elsewhere, are common. */
  readonly #owners = new Map<number, string | null>()

  /** `known`, in compact form, may stand in a candidate: it is shown to proposers anyway. */
  constructor(texts: readonly HeldOutText[], known: readonly string[]) {
    this.#texts = texts.map(indexed).filter(({ hashes }) => hashes.size >= SHINGLES_MIN)
    for (const { task, hashes } of this.#texts)
      for (const hash of hashes) this.#owners.set(hash, this.#owners.has(hash) && this.#owners.get(hash) !== task ? null : task)
    const share = (hash: number): void => void (this.#owners.has(hash) && this.#owners.set(hash, null))
    for (const text of known) eachShingle(text, share)
  }

  /** The shingles of held-out texts that a compact text holds. */
  seenIn(text: string, seen: Set<number> = new Set()): Set<number> {
    const see = (hash: number): void => void (this.#owners.has(hash) && seen.add(hash))
    if (this.#owners.size > 0) eachShingle(text, see)
    return seen
  }

  /** The tasks of which a text is quoted. */
  quoted(seen: ReadonlySet<number>, rule: QuoteRule): ReadonlySet<string> {
    return new Set(seen.size === 0 ? [] : this.#texts.filter((text) => this.#isQuoted(text, seen, rule)).map(({ task }) => task))
  }

  /** How many of the shingles are one task's alone. */
  ownOf(task: string, seen: ReadonlySet<number>): number {
    return [...seen].filter((hash) => this.#owners.get(hash) === task).length
  }

  #isQuoted({ task, hashes, step }: Indexed, seen: ReadonlySet<number>, { share, letters }: QuoteRule): boolean {
    let [there, own, ownThere] = [0, 0, 0]
    for (const hash of hashes) {
      const isOwn = this.#owners.get(hash) === task
      if (isOwn) own += 1
      if (!seen.has(hash)) continue
      there += 1
      if (isOwn) ownThere += 1
    }
    const isMost = own > 0 && there >= share * hashes.size && ownThere >= share * own
    return isMost || ownThere * step >= letters
  }
}

function indexed({ task, text, shape = (plain) => plain }: HeldOutText): Indexed {
  const plain = shape(compact(text))
  let step = 1
  while (plain.length / step > KEPT_MAX) step *= 2
  const hashes = new Set<number>()
  eachShingle(plain, (hash) => void ((hash >>> 0) % step === 0 && hashes.add(hash)))
  return { task, hashes, step }
}
