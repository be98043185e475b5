/** What differs between two texts: line by line, and within lines that take each other's place word by word. */
import { diffArrays, diffWordsWithSpace } from 'diff'

export interface Part {
  readonly text: string
  /** What differs from the line that it stands against. */
  readonly isMarked: boolean
}
export type Line =
  | { readonly kind: 'same' | 'del' | 'ins'; readonly parts: readonly Part[] }
  /** So many lines that did not change. */
  | { readonly kind: 'gap'; readonly count: number }

const CONTEXT_LINES = 3
/** No entry of a tree is larger; what is, was never in one. */
const CHARACTERS_MAX = 512 * 1024
/** A change of more lines than this has no room on a page. */
const LINE_EDITS_MAX = 500
const WORD_EDITS_MAX = 200
const WORDS_CHARACTERS_MAX = 2000

/** How much time a page still has for comparing: others wait meanwhile. */
export class Watch {
  readonly #until: number

  constructor(milliseconds: number) {
    this.#until = performance.now() + milliseconds
  }

  get leftMilliseconds(): number {
    return this.#until - performance.now()
  }
}

/** Null when comparing them would take longer than there is time. */
export function diffOf(before: string, after: string, watch: Watch): readonly Line[] | null {
  if (before.length > CHARACTERS_MAX || after.length > CHARACTERS_MAX || watch.leftMilliseconds <= 0) return null
  const limits = { timeout: watch.leftMilliseconds, maxEditLength: LINE_EDITS_MAX }
  const changes = diffArrays(before.split('\n'), after.split('\n'), limits)
  if (changes === undefined) return null
  return changes.flatMap((change, index) => {
    const [earlier, later] = [changes[index - 1], changes[index + 1]]
    if (!change.added && !change.removed) return contextOf(change.value, earlier !== undefined, later !== undefined)
    // What was removed comes first, and is told together with what took its place.
    if (change.added) return earlier?.removed === true ? [] : replaced([], change.value, watch)
    return replaced(change.value, later?.added === true ? later.value : [], watch)
  })
}

/** The lines next to a change; those further away are counted. */
function contextOf(lines: readonly string[], followsChange: boolean, precedesChange: boolean): readonly Line[] {
  const same = lines.map((text): Line => ({ kind: 'same', parts: whole(text) }))
  const head = followsChange ? CONTEXT_LINES : 0
  const tail = precedesChange ? CONTEXT_LINES : 0
  const between = same.length - head - tail
  if (between <= 1) return same
  return [...same.slice(0, head), { kind: 'gap', count: between }, ...same.slice(head + between)]
}

function replaced(removed: readonly string[], added: readonly string[], watch: Watch): readonly Line[] {
  const pairs = removed.map((line, index) => wordsOf(line, added[index], watch))
  return [
    ...removed.map((line, index): Line => ({ kind: 'del', parts: pairs[index]?.removed ?? whole(line) })),
    ...added.map((line, index): Line => ({ kind: 'ins', parts: pairs[index]?.added ?? whole(line) })),
  ]
}

const whole = (text: string): readonly Part[] => [{ text, isMarked: false }]

interface Words {
  readonly removed: readonly Part[]
  readonly added: readonly Part[]
}

/** Null where the two have too little in common for marks to help anybody. */
function wordsOf(before: string, after: string | undefined, watch: Watch): Words | null {
  if (after === undefined || Math.max(before.length, after.length) > WORDS_CHARACTERS_MAX || watch.leftMilliseconds <= 0) return null
  const words = diffWordsWithSpace(before, after, { timeout: watch.leftMilliseconds, maxEditLength: WORD_EDITS_MAX })
  if (words === undefined) return null
  const common = words.filter((word) => !word.added && !word.removed).reduce((sum, { value }) => sum + value.trim().length, 0)
  if (common === 0 || common * 3 < Math.min(before.trim().length, after.trim().length)) return null
  return {
    removed: words.filter((word) => !word.added).map(({ value, removed }) => ({ text: value, isMarked: removed })),
    added: words.filter((word) => !word.removed).map(({ value, added }) => ({ text: value, isMarked: added })),
  }
}
