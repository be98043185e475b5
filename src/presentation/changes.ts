/** The changes of a step: every mutation of its entries, and every file that differs between two releases. */
import type { Entry } from '../contract/index.ts'
import { PROPOSAL_MUTATIONS_MAX } from '../contract/limits.ts'
import { compare, type DiffLimits, type TextDiff } from './diff.ts'
import { pretty } from './json.ts'
import { counted } from './numbers.ts'
import { isRecord, objectAt, textAt, type UnknownRecord } from './read.ts'
import { mutationsIn } from './replaces.ts'

export interface EntryChange {
  readonly op: string
  readonly tone: 'good' | 'warn' | 'bad' | 'plain'
  readonly id: string
  /** The kind of the entry; empty where it is not known. */
  readonly entryKind: string
  /** An update of an entry that is not known, so that it is shown as it is now. */
  readonly lacksBefore: boolean
  /** What to show, in order. */
  readonly blocks: readonly ChangeBlock[]
}

export type ChangeBlock =
  /** As it is now. */
  | { readonly kind: 'text' | 'code' | 'settings'; readonly text: string }
  /** As it was. */
  | { readonly kind: 'removed'; readonly text: string }
  /** `diff` is null when the two are too different to be compared. */
  | { readonly kind: 'diff'; readonly of: 'text' | 'settings'; readonly after: string; readonly diff: TextDiff | null }
  | { readonly kind: 'note'; readonly text: string }

export interface StepChanges {
  readonly changes: readonly EntryChange[]
  /** How many more there are than are shown. */
  readonly more: number
}

/** `before` is the tree that the step changed; null when it is not known. */
export function changesOf(metrics: UnknownRecord, before: readonly Entry[] | null, limits: DiffLimits): StepChanges {
  const mutations = mutationsIn(metrics)
  const tree = before === null ? null : new Map(before.map((entry) => [entry.id, shownEntry(entry)]))
  const changes = mutations.slice(0, PROPOSAL_MUTATIONS_MAX).map((one) => changeOf(one, tree, limits))
  return { changes, more: mutations.length - changes.length }
}

/** What people read of an entry, and the rest of it. */
interface ShownEntry {
  readonly name: string
  readonly config: UnknownRecord
  readonly disabled: boolean
}

const shownEntry = ({ name, config, disabled }: Entry): ShownEntry => ({ name, config, disabled: disabled === true })

/** `tree` is as the mutations so far left it. */
function changeOf(mutation: UnknownRecord, tree: Map<string, ShownEntry> | null, limits: DiffLimits): EntryChange {
  const op = textAt(mutation, 'op') ?? 'unknown'
  const id = textAt(mutation, 'id') ?? 'unnamed'
  const old = tree?.get(id) ?? null
  const now = op === 'remove' ? null : updated(old, objectAt(mutation, 'options'))
  if (now === null) tree?.delete(id)
  else tree?.set(id, now)
  return {
    op,
    tone: OP_TONES[op] ?? 'plain',
    id,
    entryKind: (now ?? old)?.name ?? '',
    lacksBefore: op === 'update' && old === null,
    blocks: now === null ? removedBlocks(old) : old === null || op === 'create' ? newBlocks(now) : diffBlocks(old, now, limits),
  }
}

const OP_TONES: Readonly<Record<string, EntryChange['tone']>> = { create: 'good', update: 'warn', remove: 'bad' }

/** A field that an update leaves out stays as it was. */
function updated(old: ShownEntry | null, { name, config, disabled }: UnknownRecord): ShownEntry {
  return {
    name: typeof name === 'string' ? name : (old?.name ?? ''),
    config: isRecord(config) ? config : (old?.config ?? {}),
    disabled: typeof disabled === 'boolean' ? disabled : old?.disabled === true,
  }
}

function removedBlocks(old: ShownEntry | null): readonly ChangeBlock[] {
  const { text, rest } = old === null ? NOTHING : partsOf(old)
  const removed = text === '' ? rest : text
  return removed === '' ? [] : [{ kind: 'removed', text: removed }]
}

function newBlocks(now: ShownEntry): readonly ChangeBlock[] {
  const { text, isCode, rest } = partsOf(now)
  const blocks = [{ kind: isCode ? 'code' : 'text', text } as const, { kind: 'settings', text: rest } as const]
  return blocks.filter((block) => block.text !== '')
}

function diffBlocks(old: ShownEntry, now: ShownEntry, limits: DiffLimits): readonly ChangeBlock[] {
  const [was, is] = [partsOf(old), partsOf(now)]
  const blocks = (['text', 'rest'] as const).flatMap((part): ChangeBlock[] => {
    if (was[part] === is[part]) return []
    const diff = compare(was[part], is[part], limits)
    if (diff?.added === 0 && diff.removed === 0) return [{ kind: 'note', text: 'Only the line endings differ.' }]
    return [{ kind: 'diff', of: part === 'text' ? 'text' : 'settings', after: is[part], diff }]
  })
  return blocks.length === 0 ? [{ kind: 'note', text: 'Unchanged.' }] : blocks
}

interface EntryParts {
  readonly text: string
  readonly isCode: boolean
  /** Everything but the text, as JSON; empty where there is nothing else. */
  readonly rest: string
}
const NOTHING: EntryParts = { text: '', isCode: false, rest: '' }

function partsOf({ config, disabled }: ShownEntry): EntryParts {
  const field = ['text', 'code', 'prompt'].find((name) => typeof config[name] === 'string') ?? ''
  const { [field]: text, ...others } = config
  const rest = { ...others, ...(disabled && { disabled }) }
  return {
    text: typeof text === 'string' ? text : '',
    isCode: field === 'code',
    rest: Object.keys(rest).length === 0 ? '' : pretty(rest),
  }
}

export interface FileChange {
  readonly path: string
  readonly kind: 'added' | 'removed' | 'changed'
  readonly before: string
  readonly after: string
}
type FileTexts = Readonly<Record<string, string>>

/** In the order of their paths; files that are equal in both are left out. */
export function filesBetween(before: FileTexts, after: FileTexts): readonly FileChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
  return paths.flatMap((path) => {
    const [was, is] = [ownText(before, path), ownText(after, path)]
    if (was === is) return []
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'
    return [{ path, kind, before: was ?? '', after: is ?? '' }]
  })
}

/** A path may be called like a member that every object has. */
const ownText = (files: FileTexts, path: string): string | undefined => (Object.hasOwn(files, path) ? files[path] : undefined)

/** "1 file changed, 2 files added" */
export function filesSummary(changes: readonly FileChange[]): string {
  const parts = (['changed', 'added', 'removed'] as const).flatMap((kind) => {
    const { length } = changes.filter((change) => change.kind === kind)
    return length === 0 ? [] : [`${counted(length, 'file')} ${kind}`]
  })
  return parts.length === 0 ? 'no file differs' : parts.join(', ')
}
