/**
 * The powers of texts: what a model would take as an order, what the agent acts on itself, and what people do not see. A finding counts when
 * the tree before did not hold it in the same lines, so that an old address does not hold every later change of its text.
 */
import { isObject, type AdapterPowers, type Entry, type Json, type PowerReason } from '../../contract/index.ts'
import { screenProse, type ProseFinding } from '../prose/screen.ts'
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
  const { code: _, ...config } = entry.config
  return [...textsBelow(config)].flatMap((text) => linesOf(text).map((line) => ({ line, entry: entry.id })))
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

function newFindings(powers: AdapterPowers, before: TextBlock, after: TextBlock): readonly PowerReason[] {
  if (isSame(before, after)) return []
  const known = new Map<string, number>()
  for (const { key } of findingsIn(powers, before)) known.set(key, (known.get(key) ?? 0) + 1)
  return findingsIn(powers, after).flatMap(({ key, power, why, to }) => {
    const left = known.get(key) ?? 0
    known.set(key, left - 1)
    return left > 0 ? [] : [{ power, why, entry: after[to]?.entry ?? '' }]
  })
}

const isSame = (one: TextBlock, other: TextBlock): boolean =>
  one.length === other.length && one.every(({ line, entry }, index) => line === other[index]?.line && entry === other[index].entry)

/** Findings with a key: the lines that they are in, and the line before, which may have forbidden them. */
function findingsIn({ texts }: AdapterPowers, block: TextBlock): readonly (ProseFinding & { readonly key: string })[] {
  const lines = block.map(({ line }) => line)
  const leads = leadsOf(block)
  const found = [...screenProse(lines), ...texts.flatMap((one) => matchesOf(one, lines))]
  return found.map((finding) => {
    const { power, why, from, to } = finding
    return { ...finding, key: JSON.stringify([power, why, leads[from], ...lines.slice(from, to + 1)]) }
  })
}

/** For each line the one before it in the same entry that is not blank. */
function leadsOf(block: TextBlock): readonly string[] {
  let [lead, owner] = ['', '']
  return block.map(({ line, entry }) => {
    const before = entry === owner ? lead : ''
    ;[lead, owner] = [line.trim() === '' ? before : line, entry]
    return before
  })
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
