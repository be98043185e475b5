/** Two texts held against each other, line by line, with the words that changed within a line. Pure, and bounded in time whatever the texts are. */
import { diffArrays, diffWordsWithSpace } from 'diff'
import { visible } from './visible.ts'

interface Word {
  readonly text: string
  readonly isChanged: boolean
}
export interface DiffRow {
  readonly kind: 'same' | 'gone' | 'new'
  /** Numbers of the line in each text, from 1; null where it is not in that text. */
  readonly before: number | null
  readonly after: number | null
  readonly words: readonly Word[]
}
export interface Comparison {
  readonly rows: readonly DiffRow[]
  readonly added: number
  readonly removed: number
}

const LINES_TIMEOUT_MS = 500
/** Beyond this nobody reads word by word, and comparing them costs too much. */
const WORD_LINES_MAX = 400
const WORD_CHARACTERS_MAX = 2000
const WORD_EDITS_MAX = 200
/** What is left of a line that never ends. */
const LINE_CHARACTERS_MAX = 5000

/** Null: the two are too large and too different to be compared. */
export function compare(before: string, after: string): Comparison | null {
  const changes = diffArrays(linesOf(before), linesOf(after), { timeout: LINES_TIMEOUT_MS })
  if (changes === undefined) return null
  const rows: DiffRow[] = []
  let numbers = { before: 1, after: 1 }
  for (const { value, added, removed } of changes) {
    for (const text of value) {
      const row = {
        kind: added ? 'new' : removed ? 'gone' : 'same',
        before: added ? null : numbers.before,
        after: removed ? null : numbers.after,
      } as const
      rows.push({ ...row, words: [{ text, isChanged: false }] })
      numbers = { before: numbers.before + (added ? 0 : 1), after: numbers.after + (removed ? 0 : 1) }
    }
  }
  const count = (kind: DiffRow['kind']): number => rows.filter((row) => row.kind === kind).length
  return { rows: withWords(rows), added: count('new'), removed: count('gone') }
}

/** Texts that differ in the ends of their lines alone have the same lines. */
function linesOf(text: string): string[] {
  const lines = visible(text).split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** The first line that went is taken for what the first new one was, and so on. */
function withWords(rows: readonly DiffRow[]): readonly DiffRow[] {
  const told = rows.map(shortened)
  let compared = 0
  for (const { gone, added } of blocksOf(rows)) {
    const pairs = Math.min(gone.length, added.length)
    for (let place = 0; place < pairs && compared < WORD_LINES_MAX; place += 1, compared += 1) {
      const [from, to] = [gone[place] ?? 0, added[place] ?? 0]
      const words = wordsOf(textOf(rows[from]), textOf(rows[to]))
      const [goneRow, newRow] = [rows[from], rows[to]]
      if (words === null || goneRow === undefined || newRow === undefined) continue
      told[from] = { ...goneRow, words: words.before }
      told[to] = { ...newRow, words: words.after }
    }
  }
  return told
}

const textOf = (row: DiffRow | undefined): string => row?.words[0]?.text ?? ''

function shortened(row: DiffRow): DiffRow {
  const text = textOf(row)
  if (text.length <= LINE_CHARACTERS_MAX) return row
  const more = text.length - LINE_CHARACTERS_MAX
  return { ...row, words: [{ text: `${text.slice(0, LINE_CHARACTERS_MAX)} … ${more} more characters`, isChanged: false }] }
}

interface Block {
  readonly gone: number[]
  readonly added: number[]
}

/** Places of lines that went and came at one spot. */
function blocksOf(rows: readonly DiffRow[]): readonly Block[] {
  const blocks: Block[] = []
  rows.forEach(({ kind }, place) => {
    if (kind === 'same') return
    if (place === 0 || rows[place - 1]?.kind === 'same') blocks.push({ gone: [], added: [] })
    blocks.at(-1)?.[kind === 'gone' ? 'gone' : 'added'].push(place)
  })
  return blocks
}

/** Null where marking words would say less than the two lines do: they have too little in common. */
function wordsOf(before: string, after: string): { readonly before: readonly Word[]; readonly after: readonly Word[] } | null {
  if (before.length > WORD_CHARACTERS_MAX || after.length > WORD_CHARACTERS_MAX) return null
  const changes = diffWordsWithSpace(before, after, { maxEditLength: WORD_EDITS_MAX })
  if (changes === undefined) return null
  const kept = changes.filter(({ added, removed }) => !added && !removed).reduce((sum, { value }) => sum + value.trim().length, 0)
  if (kept * 3 < Math.max(before.trim().length, after.trim().length)) return null
  const side = (isOther: 'added' | 'removed'): readonly Word[] =>
    changes.filter((change) => !change[isOther]).map(({ value, added, removed }) => ({ text: value, isChanged: added || removed }))
  return { before: side('added'), after: side('removed') }
}

export interface Fold {
  readonly kind: 'fold'
  /** Place of the first row that it hides. */
  readonly from: number
  readonly count: number
}

const AROUND = 3
/** Hiding fewer would save nothing. */
const FOLD_LEAST = 4

/** Lines far from any change are folded away, but for those that somebody opened. */
export function folded(rows: readonly DiffRow[], opened: ReadonlySet<number>): readonly (DiffRow | Fold)[] {
  const isNear = nearChanges(rows)
  const shown: (DiffRow | Fold)[] = []
  for (let place = 0; place < rows.length;) {
    const end = endOfFar(isNear, place)
    if (end - place >= FOLD_LEAST && !opened.has(place)) shown.push({ kind: 'fold', from: place, count: end - place })
    else shown.push(...rows.slice(place, Math.max(end, place + 1)))
    place = Math.max(end, place + 1)
  }
  return shown
}

function nearChanges(rows: readonly DiffRow[]): readonly boolean[] {
  const isNear = rows.map(() => false)
  rows.forEach(({ kind }, place) => {
    if (kind !== 'same') isNear.fill(true, Math.max(0, place - AROUND), place + AROUND + 1)
  })
  return isNear
}

function endOfFar(isNear: readonly boolean[], from: number): number {
  const end = isNear.indexOf(true, from)
  return end === -1 ? isNear.length : end
}

export interface Pair {
  readonly kind: 'pair'
  readonly left: DiffRow | null
  readonly right: DiffRow | null
}

/** What went on the left, what came on the right, each beside what it was or became. */
export function sideBySide(shown: readonly (DiffRow | Fold)[]): readonly (Pair | Fold)[] {
  const pairs: (Pair | Fold)[] = []
  for (let place = 0; place < shown.length;) {
    const row = shown[place]
    if (row === undefined || row.kind === 'fold' || row.kind === 'same') {
      if (row !== undefined) pairs.push(row.kind === 'fold' ? row : { kind: 'pair', left: row, right: row })
      place += 1
      continue
    }
    const block = blockFrom(shown, place)
    const [gone, added] = [block.filter(({ kind }) => kind === 'gone'), block.filter(({ kind }) => kind === 'new')]
    const height = Math.max(gone.length, added.length)
    for (let line = 0; line < height; line += 1) pairs.push({ kind: 'pair', left: gone[line] ?? null, right: added[line] ?? null })
    place += block.length
  }
  return pairs
}

function blockFrom(shown: readonly (DiffRow | Fold)[], from: number): readonly DiffRow[] {
  const block: DiffRow[] = []
  for (const row of shown.slice(from)) {
    if (row.kind === 'fold' || row.kind === 'same') break
    block.push(row)
  }
  return block
}
