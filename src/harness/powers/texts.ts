/**
 * The powers of texts: what a model would take as an order, what the agent acts on itself, and what people do not see. A finding of the tree
 * before does not count again where lines are only added below it, so that an old address does not hold every later change.
 */
import { isObject, type AdapterPowers, type Entry, type Json, type PowerReason } from '../../contract/index.ts'
import type { ProseFinding } from '../prose/finding.ts'
import { screenProse } from '../prose/screen.ts'
import { linesOf } from '../prose/tokens.ts'
import { baselineOf, entryOf, type EntryPair } from './change.ts'

export function textReasons(
  powers: AdapterPowers,
  before: readonly Entry[],
  after: readonly Entry[],
  changes: readonly EntryPair[],
): readonly PowerReason[] {
  const apart = changes.filter((change) => !isJoined(entryOf(change)) || change.after?.disabled === true)
  return [
    ...newFindings(powers, joined(before), joined(after)),
    ...apart.flatMap((change) => newFindings(powers, blockOf(baselineOf(change)), blockOf(change.after))),
  ]
}

/** Rules are one file to the agent, so that a sentence may go over from one entry to the next. */
const isJoined = ({ name }: Entry): boolean => name === 'rules'
const joined = (entries: readonly Entry[]): TextBlock =>
  entries.filter((entry) => isJoined(entry) && entry.disabled !== true).flatMap(blockOf)

/** Lines with the entry that each is from. */
type TextBlock = readonly { readonly line: string; readonly entry: string }[]

function blockOf(entry: Entry | null): TextBlock {
  if (entry === null) return []
  // The text comes last, so that lines that are added to it move nothing else.
  const { code: _, text = '', ...config } = entry.config
  return [...textsBelow(config), ...textsBelow(text)].flatMap((each) => linesOf(each).map((line) => ({ line, entry: entry.id })))
}

/** Every text, and every name of a field that is more than a name. */
function* textsBelow(value: Json): Generator<string> {
  if (typeof value === 'string') yield value
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (isObject(value) && !/^[A-Za-z][A-Za-z0-9_-]{0,40}$/.test(name)) yield name
    yield* textsBelow(member)
  }
}

/** What is found in other words, in other lines, or where a line above it or beside it in its entry is no longer there. */
function newFindings(powers: AdapterPowers, before: TextBlock, after: TextBlock): readonly PowerReason[] {
  if (isSame(before, after)) return []
  const same = sameLines(before, after)
  const [old, ends] = [findingsIn(powers, before), endsOf(before)]
  const stays = new Set(old.filter(({ to }) => (ends[to] ?? to) < same).map(keyOf))
  const words = new Set(old.map((finding) => wordsOf(finding, before)))
  return findingsIn(powers, after).flatMap((finding): PowerReason[] => {
    const { power, why, to } = finding
    if (stays.has(keyOf(finding))) return []
    const entry = after[to]?.entry ?? ''
    return [{ power, entry, why: words.has(wordsOf(finding, after)) ? `${why}, and what is said around it changes` : why }]
  })
}

const isSame = (one: TextBlock, other: TextBlock): boolean =>
  one.length === other.length && one.every(({ line, entry }, index) => line === other[index]?.line && entry === other[index].entry)

/** How many lines at the beginning are equal. */
function sameLines(one: TextBlock, other: TextBlock): number {
  const different = one.findIndex(({ line }, index) => line !== other[index]?.line)
  return different === -1 ? one.length : different
}

/** For each line the last one of its entry that is not blank: a line after a finding may say that it is forbidden. */
function endsOf(block: TextBlock): readonly number[] {
  const ends = block.map((_, index) => index)
  for (let at = block.length - 2; at >= 0; at -= 1) {
    const next = ends[at + 1] ?? at
    if (block[at]?.entry === block[at + 1]?.entry && block[next]?.line.trim() !== '') ends[at] = next
  }
  return ends
}

const keyOf = ({ power, why, from, to }: ProseFinding): string => JSON.stringify([power, why, from, to])
const wordsOf = ({ power, why, from, to }: ProseFinding, block: TextBlock): string =>
  JSON.stringify([power, why, ...block.slice(from, to + 1).map(({ line }) => line)])

function findingsIn({ texts }: AdapterPowers, block: TextBlock): readonly ProseFinding[] {
  const lines = block.map(({ line }) => line)
  return [...screenProse(lines), ...texts.flatMap((one) => matchesOf(one, lines))]
}

/** In the text as a whole: what the agent acts on may begin in one line and end in another. */
function matchesOf({ pattern, power, why }: AdapterPowers['texts'][number], lines: readonly string[]): readonly ProseFinding[] {
  // A pattern may say where a line begins or ends.
  const flags = [...new Set(`${pattern.flags}gm`)].join('')
  const found: ProseFinding[] = []
  let [line, passed] = [0, 0]
  const lineAt = (offset: number): number => {
    while (line < lines.length - 1 && passed + (lines[line]?.length ?? 0) < offset) {
      passed += (lines[line]?.length ?? 0) + 1
      line += 1
    }
    return line
  }
  for (const match of lines.join('\n').matchAll(new RegExp(pattern.source, flags))) {
    const from = lineAt(match.index)
    found.push({ power, why: `it holds ${why}`, from, to: lineAt(match.index + Math.max(0, match[0].length - 1)) })
  }
  return found
}
