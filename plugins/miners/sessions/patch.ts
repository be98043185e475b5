/**
 * Patches of the tool apply_patch, which Codex and opencode have: read, and applied to texts as the tool does it. Nothing on a disk is touched, and
 * a patch that does not fit is no patch.
 */

export type PatchChange =
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'patch'; readonly path: string; readonly chunks: readonly PatchChunk[]; readonly to: string | null }

/** Lines in a row that take the place of others. */
export interface PatchChunk {
  /** A line somewhere before the place. */
  readonly after: string | null
  readonly old: readonly string[]
  readonly fresh: readonly string[]
  /** Whether the old lines are the last of the file. */
  readonly isAtEnd: boolean
}

/** Larger ones are no work of an agent, and would take long. */
export const PATCH_CHARACTERS_MAX = 512 * 1024
const CHANGES_MAX = 500
const CHUNKS_MAX = 1000

const BEGIN = '*** Begin Patch'
const END = '*** End Patch'
const AT_END = '*** End of File'
const HEADER = /^\*\*\* (Add|Delete|Update) File: (.+)$/
const MOVE = /^\*\*\* Move to: (.+)$/

export const isPatch = (text: string): boolean => text.trimStart().startsWith(BEGIN)

/** Null where it is no whole patch. */
export function changesIn(patch: string): readonly PatchChange[] | null {
  if (patch.length > PATCH_CHARACTERS_MAX) return null
  const lines = patch.trim().split(/\r?\n/)
  if (lines.length < 2 || lines.shift()?.trim() !== BEGIN || lines.pop()?.trim() !== END) return null
  const changes: PatchChange[] = []
  for (let at = 0; at < lines.length && changes.length < CHANGES_MAX;) {
    const begin = at + 1
    at = nextHeader(lines, begin)
    const change = changeOf(lines[begin - 1]?.trim() ?? '', lines.slice(begin, at))
    if (change === null) return null
    changes.push(change)
  }
  return changes.length === CHANGES_MAX ? null : changes
}

function nextHeader(lines: readonly string[], from: number): number {
  const next = lines.findIndex((line, at) => at >= from && HEADER.test(line))
  return next < 0 ? lines.length : next
}

function changeOf(header: string, body: readonly string[]): PatchChange | null {
  const [, what = '', path = ''] = HEADER.exec(header) ?? []
  if (what === 'Delete') return body.every((line) => line.trim() === '') ? { kind: 'remove', path } : null
  if (what === 'Add')
    return body.every((line) => line.startsWith('+'))
      ? { kind: 'write', path, text: body.map((line) => `${line.slice(1)}\n`).join('') }
      : null
  if (what !== 'Update') return null
  const [, to = null] = MOVE.exec(body[0] ?? '') ?? []
  const chunks = chunksIn(to === null ? body : body.slice(1))
  return chunks === null || chunks.length === 0 ? null : { kind: 'patch', path, chunks, to }
}

interface OpenChunk extends PatchChunk {
  readonly old: string[]
  readonly fresh: string[]
  isAtEnd: boolean
}

function chunksIn(body: readonly string[]): readonly PatchChunk[] | null {
  const chunks: OpenChunk[] = []
  for (const line of body) {
    const last = chunks.at(-1)
    const isOpen = last !== undefined && !last.isAtEnd
    if (line === '@@' || line.startsWith('@@ ')) chunks.push(newChunk(line.slice(3) || null))
    else if (line === AT_END && isOpen && last.old.length + last.fresh.length > 0) last.isAtEnd = true
    else if (line.trim() === '' && !isOpen) continue
    else if (isOpen) {
      if (!addLine(last, line)) return null
    } else {
      // The first chunk may have no mark.
      const first = newChunk(null)
      if (last !== undefined || !addLine(first, line)) return null
      chunks.push(first)
    }
  }
  const isWhole = chunks.length <= CHUNKS_MAX && chunks.every(({ old, fresh }) => old.length + fresh.length > 0)
  return isWhole ? chunks : null
}

const newChunk = (after: string | null): OpenChunk => ({ after, old: [], fresh: [], isAtEnd: false })

function addLine({ old, fresh }: OpenChunk, line: string): boolean {
  const [mark, text] = [line.charAt(0), line.slice(1)]
  if (mark !== '+' && mark !== '-' && mark !== ' ' && mark !== '') return false
  if (mark !== '+') old.push(text)
  if (mark !== '-') fresh.push(text)
  return true
}

interface Replacement {
  readonly at: number
  readonly count: number
  readonly fresh: readonly string[]
}

/** The text with every chunk in its place; null where one has none. */
export function patched(text: string, chunks: readonly PatchChunk[]): string | null {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const seen = SIGHTS.map((sight) => ({ sight, lines: lines.map(sight) }))
  const found: Replacement[] = []
  let from = 0
  for (const chunk of chunks) {
    const { after, old, fresh } = chunk
    if (after !== null) {
      const context = placeOf(seen, [after], from)
      if (context < 0) return null
      from = context + 1
    }
    if (old.length === 0) {
      found.push({ at: lines.at(-1) === '' ? lines.length - 1 : lines.length, count: 0, fresh })
      continue
    }
    const place = replacementOf(seen, chunk, from)
    if (place === null) return null
    found.push(place)
    from = place.at + place.count
  }
  return replaced(lines, found)
}

/** As the tool looks at lines: as they are, without blanks at their end, without blanks around. */
const SIGHTS: readonly ((line: string) => string)[] = [(line) => line, (line) => line.trimEnd(), (line) => line.trim()]
type Seen = readonly { readonly sight: (line: string) => string; readonly lines: readonly string[] }[]

/** An empty line at the end of a chunk may stand for the end of the file. */
function replacementOf(seen: Seen, { old, fresh, isAtEnd }: PatchChunk, from: number): Replacement | null {
  const shorter = old.at(-1) === '' ? [{ old: old.slice(0, -1), fresh: fresh.at(-1) === '' ? fresh.slice(0, -1) : fresh }] : []
  for (const { old: wanted, fresh: lines } of [{ old, fresh }, ...shorter]) {
    const end = seen[0]?.lines.length ?? 0
    const at = wanted.length === 0 ? -1 : placeOf(seen, wanted, isAtEnd ? end - wanted.length : from)
    if (at >= 0) return { at, count: wanted.length, fresh: lines }
  }
  return null
}

function placeOf(seen: Seen, wanted: readonly string[], from: number): number {
  if (from < 0) return -1
  for (const { sight, lines } of seen) {
    const at = indexOfRun(lines, wanted.map(sight), from)
    if (at >= 0) return at
  }
  return -1
}

/** In time that grows with both and not with their product (Knuth, Morris and Pratt). */
function indexOfRun(lines: readonly string[], wanted: readonly string[], from: number): number {
  const shorter = [0]
  for (let at = 1, length = 0; at < wanted.length; at += 1) {
    while (length > 0 && wanted[at] !== wanted[length]) length = shorter[length - 1] ?? 0
    if (wanted[at] === wanted[length]) length += 1
    shorter.push(length)
  }
  for (let at = from, length = 0; at < lines.length; at += 1) {
    while (length > 0 && lines[at] !== wanted[length]) length = shorter[length - 1] ?? 0
    if (lines[at] === wanted[length]) length += 1
    if (length === wanted.length) return at - length + 1
  }
  return -1
}

/** Null where two are in each other's way. */
function replaced(lines: readonly string[], found: readonly Replacement[]): string | null {
  const next: string[] = []
  let from = 0
  for (const { at, count, fresh } of found.toSorted((one, other) => one.at - other.at)) {
    if (at < from) return null
    for (; from < at; from += 1) next.push(lines[from] ?? '')
    for (const line of fresh) next.push(line)
    from = at + count
  }
  for (; from < lines.length; from += 1) next.push(lines[from] ?? '')
  if (next.at(-1) !== '') next.push('')
  return next.join('\n')
}
