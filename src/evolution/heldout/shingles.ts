/** Looks for held-out texts by their shingles. */
import { compact, eachShingle, shinglesOf, type Shingles } from '../../kit/index.ts'

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

/** A held-out text, and the task that it belongs to. */
export interface HeldOutText {
  readonly task: string
  readonly text: string
  /** Looked for in this shape of it. */
  readonly shape?: (plain: string) => string
}

interface Indexed extends Shingles {
  readonly task: string
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

const indexed = ({ task, text, shape = (plain) => plain }: HeldOutText): Indexed => ({ task, ...shinglesOf(shape(compact(text))) })
