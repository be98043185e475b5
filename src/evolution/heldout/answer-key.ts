/** Finds answer keys: short answers of many held-out tasks, each beside words of its task, or one after the other. */
import type { Task } from '../../contract/index.ts'

/** An answer stands beside its task within this many words. */
const REACH = 12
/** Fewer may be chance, or examples. */
const PAIRS_MIN = 3
/** Of all tasks with an answer; knowledge that a few tasks ask for is no key. */
const PAIRS_SHARE = 0.15
const PAIRS_ENOUGH = 12
/** Answers of so many tasks in a row, in the order of the tasks. */
const ROW_MIN = 6
/** Words that may stand between two answers of a row, such as their numbers. */
const ROW_GAP = 2

const wordsIn = (text: string): readonly string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

interface KeyedTask {
  readonly name: string
  readonly answers: readonly (readonly string[])[]
  /** Words, and pairs of words, that no other prompt has. */
  readonly marks: ReadonlySet<string>
}

/** So many answers close together, in any order, and of so many of the tasks. */
const CHAIN_MIN = 8
const CHAIN_SHARE = 0.15
/** Words that may stand between two answers of a chain. */
const CHAIN_GAP = 6
/** A single sign is an answer of too many things. */
const CHAIN_CHARACTERS_MIN = 2

export class AnswerKeys {
  readonly #tasks: readonly KeyedTask[]
  readonly #byFirstWord = new Map<string, { readonly at: number; readonly words: readonly string[] }[]>()

  constructor(heldOut: readonly Task[], all: readonly Task[]) {
    const users = new Map<string, number>()
    for (const { name, prompt } of all) for (const mark of marksOf(name, prompt)) users.set(mark, (users.get(mark) ?? 0) + 1)
    this.#tasks = heldOut
      .map(({ name, prompt, data }) => ({
        name,
        answers: answersIn(data?.['answer'])
          .map(wordsIn)
          .filter(({ length }) => length > 0),
        marks: new Set([...marksOf(name, prompt)].filter((mark) => users.get(mark) === 1)),
      }))
      .filter(({ answers }) => answers.length > 0)
    for (const [at, { answers }] of this.#tasks.entries())
      for (const words of answers) this.#byFirstWord.set(words[0] ?? '', [...(this.#byFirstWord.get(words[0] ?? '') ?? []), { at, words }])
  }

  /** How much of a key the texts hold: tasks with their answer, the longest row of answers in order, and the most that stand close together. */
  found(texts: readonly string[]): { readonly pairs: ReadonlySet<string>; readonly row: number; readonly chain: number } {
    const pairs = new Set<string>()
    let [row, chain] = [0, 0]
    if (this.#tasks.length < PAIRS_MIN) return { pairs, row, chain }
    for (const text of texts) {
      const words = wordsIn(text)
      const hits = this.#hitsIn(words)
      for (const { at, start, end } of hits) {
        const task = this.#tasks[at]
        if (task !== undefined && !pairs.has(task.name) && isMarked(words, start, end, task.marks)) pairs.add(task.name)
      }
      row = Math.max(row, longestRow(hits))
      chain = Math.max(chain, longestChain(hits, words))
    }
    return { pairs, row, chain }
  }

  isKey({ pairs, row, chain }: ReturnType<AnswerKeys['found']>): boolean {
    if (chain >= Math.max(CHAIN_MIN, CHAIN_SHARE * this.#tasks.length)) return true
    const share = pairs.size / this.#tasks.length
    return row >= ROW_MIN || (pairs.size >= PAIRS_MIN && (share >= PAIRS_SHARE || pairs.size >= PAIRS_ENOUGH))
  }

  #hitsIn(words: readonly string[]): readonly Hit[] {
    return words.flatMap((word, start) =>
      (this.#byFirstWord.get(word) ?? [])
        .filter(({ words: answer }) => answer.every((each, n) => words[start + n] === each))
        .map(({ at, words: answer }) => ({ at, start, end: start + answer.length })),
    )
  }
}

interface Hit {
  /** The place of the task. */
  readonly at: number
  readonly start: number
  readonly end: number
}

const answersIn = (answer: unknown): readonly string[] =>
  (Array.isArray(answer) ? answer : [answer]).filter((each) => typeof each === 'string')

/** The name counts as a whole. */
function marksOf(name: string, prompt: string): ReadonlySet<string> {
  const words = wordsIn(prompt)
  return new Set([wordsIn(name).join(' '), ...words, ...words.slice(1).map((word, n) => `${words[n] ?? ''} ${word}`)])
}

/** The answer itself is no mark. */
function isMarked(words: readonly string[], start: number, end: number, marks: ReadonlySet<string>): boolean {
  const [from, to] = [Math.max(0, start - REACH), Math.min(words.length, end + REACH)]
  for (let at = from; at < to; at += 1) {
    if (at >= start && at < end) continue
    if (marks.has(words[at] ?? '') || marks.has(`${words[at] ?? ''} ${words[at + 1] ?? ''}`)) return true
  }
  return false
}

/** The most different answers that stand close together. */
function longestChain(hits: readonly Hit[], words: readonly string[]): number {
  let [longest, last] = [0, 0]
  let answers = new Set<string>()
  for (const { start, end } of hits) {
    const answer = words.slice(start, end).join('')
    if (answer.length < CHAIN_CHARACTERS_MIN) continue
    if (start - last > CHAIN_GAP) answers = new Set()
    answers.add(answer)
    last = Math.max(last, end)
    longest = Math.max(longest, answers.size)
  }
  return longest
}

/** The most tasks whose answers follow each other in the order of the tasks. */
function longestRow(hits: readonly Hit[]): number {
  const rows = new Map<number, readonly { readonly end: number; readonly length: number }[]>()
  let longest = 0
  for (const { at, start, end } of hits) {
    const before = (rows.get(at - 1) ?? []).filter((row) => start >= row.end && start - row.end <= ROW_GAP)
    const length = 1 + Math.max(0, ...before.map((row) => row.length))
    rows.set(at, [...(rows.get(at) ?? []).slice(-RECENT), { end, length }])
    longest = Math.max(longest, length)
  }
  return longest
}
const RECENT = 8
