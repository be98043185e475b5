/**
 * A harness tree in a folder: which adapter it is for, and what it could do on a machine. Closed: a file that neither an entry nor the adapter
 * accounts for has every power.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  canonicalJson,
  isObject,
  isRefusal,
  JSON_DEPTH_MAX,
  NAMED_KINDS,
  type Adapter,
  type Entry,
  type Files,
  type Json,
  type PowerReason,
} from '../contract/index.ts'
import { faultInJson } from '../kit/index.ts'
import { isReserved } from './admission.ts'
import { entryProblem } from './kinds.ts'
import { powersOf } from './powers.ts'
import { reasonsFor } from './powers/change.ts'
import { merged, renderTree } from './render.ts'
import { isProgram } from './review.ts'
import { contentOf, entriesIn, entriesPath } from './tree.ts'

export interface FolderContent {
  readonly files: Files
  /** Paths that cannot be read as a text, each with what it is. */
  readonly odd: readonly StrayFile[]
}

export interface StrayFile {
  readonly path: string
  /** A clause: "it is a symbolic link". */
  readonly what: string
}

interface FolderTree {
  readonly entries: readonly Entry[]
  readonly strays: readonly StrayFile[]
}

/** Why the tree has each of its powers: against another one, or against what the service ships by itself. */
export function folderPowers(adapter: Adapter, after: FolderContent, before: FolderContent | null): readonly PowerReason[] {
  const now = treeIn(adapter, after)
  const old = before === null ? { entries: shippedIn(adapter, now.entries), strays: [] } : treeIn(adapter, before)
  const same = ({ path, what }: StrayFile, other: readonly StrayFile[]): boolean =>
    isText(after, path) && after.files[path] === before?.files[path] && other.some((each) => each.path === path && each.what === what)
  const changed = [...now.strays.filter((stray) => !same(stray, old.strays)), ...old.strays.filter((stray) => !same(stray, now.strays))]
  const strays = new Map(changed.map((stray) => [`${stray.path}\n${stray.what}`, stray]))
  const unknown = [...strays.values()].flatMap(({ path, what }) => reasonsFor(undefined, path, what))
  const known = powersOf(old.entries, now.entries, adapter)
  return unknown.length === 0 ? known : [...known.filter(({ power }) => power !== 'words'), ...unknown]
}

const isText = ({ files }: FolderContent, path: string): boolean => Object.hasOwn(files, path)

/** Those adapters whose places hold the most files of the folder; none where nothing in it is known. */
export function fittingAdapters(adapters: readonly Adapter[], { files }: FolderContent): readonly Adapter[] {
  const counts = adapters.map((adapter) => Object.keys(files).filter((path) => isKnownPlace(adapter, path)).length)
  const most = Math.max(0, ...counts)
  return most === 0 ? [] : adapters.filter((_, at) => counts[at] === most)
}

/** Whether the folder holds anything that the adapter reads; else it is no tree of it. */
export const isTreeOf = (adapter: Adapter, { files }: FolderContent): boolean =>
  isText({ files, odd: [] }, entriesPath(adapter)) || Object.keys(files).some((path) => isKnownPlace(adapter, path))

function isKnownPlace({ layout }: Adapter, path: string): boolean {
  const fixed = [layout.rules, layout.tree, ...Object.values(layout.config).map((file) => file.path)]
  return fixed.includes(path) || nameIn(layout.named, path) !== null
}

/** The folder of an agent itself, such as `.claude`, as the part of a tree that it would be. */
export function below(adapter: Adapter, { files, odd }: FolderContent): FolderContent {
  const top = adapter.layout.rules?.split('/')[0] ?? ''
  const moved = (path: string): string => `${top}/${path}`
  return {
    files: Object.fromEntries(Object.entries(files).map(([path, text]) => [moved(path), text])),
    odd: odd.map(({ path, what }) => ({ path: moved(path), what })),
  }
}

/** The entries that the folder keeps, else those that its files would be rendered from. */
function treeIn(adapter: Adapter, content: FolderContent): FolderTree {
  const { entries, strays } = isText(content, entriesPath(adapter)) ? keptTree(adapter, content) : renderedTree(adapter, content)
  const shipped = shippedIn(adapter, entries)
  const refused = entries
    .filter((entry) => !shipped.includes(entry))
    .flatMap((entry) => {
      const problem = entryProblem(adapter, entry)
      return problem === null ? [] : [{ path: entry.id, what: `it would be refused (${problem})` }]
    })
  return { entries, strays: [...strays, ...refused, ...content.odd] }
}

/** What the service ships is put there by itself, as long as it is just that. */
function shippedIn({ shipped }: Adapter, entries: readonly Entry[]): readonly Entry[] {
  const own = [...(shipped?.version_check ?? []), ...(shipped?.requests ?? [])]
  return entries.filter(
    ({ id, name, config, disabled }) =>
      isReserved(id) && own.some((each) => isSame(each, { id, name, config, ...(disabled && { disabled }) })),
  )
}

const isSame = (one: Entry, other: Entry): boolean => canonicalJson({ ...one }) === canonicalJson({ ...other })

function keptTree(adapter: Adapter, { files }: FolderContent): FolderTree {
  const entries = entriesIn(adapter, files)
  const own = entriesPath(adapter)
  const rendered = contentOrReason(adapter, entries)
  if (typeof rendered === 'string')
    return { entries, strays: [{ path: own, what: `it would be refused (${rendered})` }, ...unaccounted(files, own)] }
  const paths = Object.keys(rendered).filter((path) => path !== own)
  const isRendered = paths.some((path) => Object.hasOwn(files, path))
  const missing = isRendered ? paths.filter((path) => !Object.hasOwn(files, path)) : []
  const others = Object.keys(files).filter((path) => path !== own && rendered[path] !== files[path])
  return {
    entries,
    strays: [
      ...(isSameJson(files[own] ?? '', rendered[own] ?? '')
        ? []
        : [{ path: own, what: 'it holds more than the entries that are read from it' }]),
      ...missing.map((path) => ({ path, what: 'it is a file that an entry would be rendered to, and is missing' })),
      ...others.map((path) => ({ path, what: Object.hasOwn(rendered, path) ? 'it is not what its entries render to' : UNACCOUNTED })),
    ],
  }
}

const UNACCOUNTED = 'it is a file that no entry accounts for'
const unaccounted = (files: Files, own: string): readonly StrayFile[] =>
  Object.keys(files)
    .filter((path) => path !== own)
    .map((path) => ({ path, what: UNACCOUNTED }))

function contentOrReason(adapter: Adapter, entries: readonly Entry[]): Files | string {
  try {
    return contentOf(adapter, entries)
  } catch (error) {
    if (isRefusal(error)) return error.message
    throw error
  }
}

/** Agents differ in which of two equal keys they take. */
const isStrict = (text: string): boolean => faultInJson(Buffer.from(text), { depthMax: JSON_DEPTH_MAX, uniqueKeys: true }) === null

function isSameJson(one: string, other: string): boolean {
  if (!isStrict(one)) return false
  const [first, second]: readonly Json[] = [JSON.parse(one), JSON.parse(other)]
  return isDeepStrictEqual(first, second)
}

/** Without entries: the texts as they are, so that what is judged is what the agent reads. */
function renderedTree(adapter: Adapter, { files }: FolderContent): FolderTree {
  const empty = renderTree(adapter, [])
  const read = Object.entries(files).map(([path, text]): Entry | StrayFile | null =>
    empty[path] === text
      ? null
      : (entryFor(adapter, path, text) ?? { path, what: `it is a file that ${adapter.name} is not known to read so` }),
  )
  return {
    entries: read.flatMap((each) => (each !== null && 'id' in each ? [each] : [])),
    strays: read.flatMap((each) => (each !== null && 'what' in each ? [each] : [])),
  }
}

function entryFor(adapter: Adapter, path: string, text: string): Entry | null {
  const { layout } = adapter
  if (path === layout.rules) return { id: 'rules', name: 'rules', config: { text } }
  const named = nameIn(layout.named, path)
  if (named !== null) {
    const { kind, name } = named
    return { id: `${kind}.${name}`, name: kind, config: isProgram(adapter, kind) ? { name, code: text } : { name, text } }
  }
  const [target] = Object.entries(layout.config).find(([, file]) => file.path === path) ?? []
  return target === undefined ? null : settingsEntry(adapter, target, text)
}

/** Settings in another format than JSON, and those that lack what the adapter always sets, cannot be told from others. */
function settingsEntry({ layout }: Adapter, target: string, text: string): Entry | null {
  if (!isStrict(text)) return null
  const data: Json = JSON.parse(text)
  const defaults = layout.config[target]?.defaults ?? {}
  return isObject(data) && isDeepStrictEqual(merged(defaults, data), data)
    ? { id: `config.${target}`, name: 'config', config: { target, data } }
    : null
}

/** The kind and name of the entry that would be rendered to the path. */
function nameIn(
  named: Adapter['layout']['named'],
  path: string,
): { readonly kind: (typeof NAMED_KINDS)[number]; readonly name: string } | null {
  for (const kind of NAMED_KINDS) {
    const [head = '', tail] = named[kind]?.split('{name}') ?? []
    if (tail === undefined || !path.startsWith(head) || !path.endsWith(tail)) continue
    const name = path.slice(head.length, path.length - tail.length)
    if (name !== '' && !name.includes('/') && head.length + tail.length < path.length) return { kind, name }
  }
  return null
}
