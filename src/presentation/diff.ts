/** The difference of two texts: line by line, and word by word within lines that replace each other. Bounded in time whatever the texts are. */
import { diffArrays, diffWordsWithSpace } from 'diff'

interface DiffPart {
  readonly text: string
  /** Differs from the line that it is compared with. */
  readonly isMarked: boolean
}
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  /** The number of the line in each text, from 1; null where it is not in that text. */
  readonly before: number | null
  readonly after: number | null
  readonly parts: readonly DiffPart[]
}
export interface TextDiff {
  readonly lines: readonly DiffLine[]
  readonly added: number
  readonly removed: number
}
export interface DiffLimits {
  /** Milliseconds that comparing may still take. */
  readonly timeLeft: () => number
  /** A change of more lines is not compared. */
  readonly lineEditsMax?: number
  /** A longer text is not compared. */
  readonly charactersMax?: number
}

/** A longer line is cut, and none of its words are compared. */
const LINE_CHARACTERS_MAX = 2000
const WORD_EDITS_MAX = 200
const WORD_LINES_MAX = 400

/** So much time from now on. */
export function timeFor(milliseconds: number): () => number {
  const until = performance.now() + milliseconds
  return () => until - performance.now()
}

/** Null when the texts are too large and too different to be compared within the limits. */
export function compare(before: string, after: string, limits: DiffLimits): TextDiff | null {
  const { timeLeft, lineEditsMax, charactersMax = Infinity } = limits
  if (Math.max(before.length, after.length) > charactersMax || timeLeft() <= 0) return null
  const bounds = { timeout: timeLeft(), ...(lineEditsMax !== undefined && { maxEditLength: lineEditsMax }) }
  const changes = diffArrays(linesOf(before), linesOf(after), bounds)
  if (changes === undefined) return null
  const lines: DiffLine[] = []
  let [was, is] = [0, 0]
  for (const { value, added, removed } of changes)
    for (const text of value)
      lines.push({
        kind: added ? 'added' : removed ? 'removed' : 'same',
        before: added ? null : (was += 1),
        after: removed ? null : (is += 1),
        parts: [{ text, isMarked: false }],
      })
  const count = (kind: DiffLine['kind']): number => lines.filter((line) => line.kind === kind).length
  return { lines: withWords(lines, timeLeft), added: count('added'), removed: count('removed') }
}

/** Texts that differ in their line endings alone have the same lines. */
function linesOf(text: string): string[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** Of lines that replace each other the first is compared with the first, and so on. */
function withWords(lines: readonly DiffLine[], timeLeft: () => number): readonly DiffLine[] {
  const marked = lines.map(shortened)
  let compared = 0
  for (const block of blocksOf(lines)) {
    const [removed, added] = [block.filter((at) => lines[at]?.kind === 'removed'), block.filter((at) => lines[at]?.kind === 'added')]
    for (const [place, from] of removed.slice(0, added.length).entries()) {
      const to = added[place] ?? from
      const [was, is] = [lines[from], lines[to]]
      if (was === undefined || is === undefined || compared >= WORD_LINES_MAX || timeLeft() <= 0) return marked
      compared += 1
      const words = wordsOf(textOf(was), textOf(is), timeLeft())
      if (words === null) continue
      marked[from] = { ...was, parts: words.removed }
      marked[to] = { ...is, parts: words.added }
    }
  }
  return marked
}

const textOf = ({ parts }: DiffLine): string => parts[0]?.text ?? ''

function shortened(line: DiffLine): DiffLine {
  const more = textOf(line).length - LINE_CHARACTERS_MAX
  if (more <= 0) return line
  const text = textOf(line).slice(0, LINE_CHARACTERS_MAX).toWellFormed()
  return { ...line, parts: [{ text: `${text} … ${more} more characters`, isMarked: false }] }
}

/** The places of the lines of each change. */
function blocksOf(lines: readonly DiffLine[]): readonly (readonly number[])[] {
  const blocks: number[][] = []
  for (const [at, { kind }] of lines.entries()) {
    if (kind === 'same') continue
    if (at === 0 || lines[at - 1]?.kind === 'same') blocks.push([])
    blocks.at(-1)?.push(at)
  }
  return blocks
}

/** Null where the lines have too little in common for marks to help. */
function wordsOf(before: string, after: string, timeout: number) {
  if (Math.max(before.length, after.length) > LINE_CHARACTERS_MAX) return null
  const words = diffWordsWithSpace(before, after, { timeout, maxEditLength: WORD_EDITS_MAX })
  if (words === undefined) return null
  const common = words.filter((word) => !word.added && !word.removed).reduce((sum, { value }) => sum + value.trim().length, 0)
  if (common * 3 < Math.max(before.trim().length, after.trim().length)) return null
  return {
    removed: words.filter((word) => !word.added).map(({ value, removed }) => ({ text: value, isMarked: removed })),
    added: words.filter((word) => !word.removed).map(({ value, added }) => ({ text: value, isMarked: added })),
  }
}

/** Unchanged lines that are not shown. */
export interface DiffGap {
  readonly kind: 'gap'
  /** The place of the first of them. */
  readonly from: number
  readonly count: number
}

const CONTEXT_LINES = 3
/** Hiding fewer would save nothing. */
const GAP_LINES_MIN = 4

/** Lines far from any change become gaps, except those in `opened`, by the place of their first line. */
export function withGaps(lines: readonly DiffLine[], opened: ReadonlySet<number> = new Set()): readonly (DiffLine | DiffGap)[] {
  const isNear = lines.map(() => false)
  for (const [at, { kind }] of lines.entries())
    if (kind !== 'same') isNear.fill(true, Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1)
  const shown: (DiffLine | DiffGap)[] = []
  for (let at = 0; at < lines.length;) {
    const near = isNear.indexOf(true, at)
    const end = near === -1 ? lines.length : near
    if (end - at >= GAP_LINES_MIN && !opened.has(at)) shown.push({ kind: 'gap', from: at, count: end - at })
    else shown.push(...lines.slice(at, Math.max(end, at + 1)))
    at = Math.max(end, at + 1)
  }
  return shown
}

/** A line of each side; null where the other side is longer. */
export interface DiffPair {
  readonly kind: 'pair'
  readonly left: DiffLine | null
  readonly right: DiffLine | null
}

/** Removed lines on the left, each beside the line that replaced it. */
export function sideBySide(shown: readonly (DiffLine | DiffGap)[]): readonly (DiffPair | DiffGap)[] {
  const pairs: (DiffPair | DiffGap)[] = []
  let block: DiffLine[] = []
  const flush = (): void => {
    const side = (kind: DiffLine['kind']): readonly DiffLine[] => block.filter((line) => line.kind === kind)
    const [removed, added] = [side('removed'), side('added')]
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1)
      pairs.push({ kind: 'pair', left: removed[at] ?? null, right: added[at] ?? null })
    block = []
  }
  for (const line of shown) {
    if (line.kind === 'removed' || line.kind === 'added') {
      block.push(line)
      continue
    }
    flush()
    pairs.push(line.kind === 'gap' ? line : { kind: 'pair', left: line, right: line })
  }
  flush()
  return pairs
}
