/** A tree as content: its rendered files and its entries, from which the next release starts. */
import { invalid, isObject, TREE_BYTES_MAX, TREE_ENTRIES_MAX, type Adapter, type Entry, type Files, type Json } from '../contract/index.ts'
import { renderTree } from './render.ts'
import { printJson } from './support/print.ts'

/** Holds the entries where the adapter's layout has no file for them. Clients do not pull it. */
const ENTRIES_FILE = '.svc-tree.json'

export const entriesPath = ({ layout }: Adapter): string => layout.tree ?? ENTRIES_FILE

export function contentOf(adapter: Adapter, entries: readonly Entry[]): Files {
  if (entries.length > TREE_ENTRIES_MAX) throw invalid('tree_too_large', `a tree must have at most ${TREE_ENTRIES_MAX} entries`)
  const path = entriesPath(adapter)
  const files = renderTree(adapter, entries)
  if (Object.hasOwn(files, path)) throw invalid('path_collision', `${path} is where the tree itself is kept; rename the entry`)
  const text = printJson(entries.map(jsonOf))
  if (Buffer.byteLength(text) > TREE_BYTES_MAX)
    throw invalid('tree_too_large', `the entries of a tree, disabled ones too, must be at most ${TREE_BYTES_MAX} bytes of JSON together`)
  return { ...files, [path]: text }
}

const jsonOf = (entry: Entry): Json => ({ ...plainEntry(entry) })

/** The entry without unknown fields, and without `disabled: false`. */
export function plainEntry({ id, name, config, disabled, author, protected: isProtected }: Entry): Entry {
  return {
    id,
    name,
    config,
    ...(disabled === true && { disabled }),
    ...(author !== undefined && { author }),
    ...(isProtected === true && { protected: true }),
  }
}

export function entriesIn(adapter: Adapter, content: Files): readonly Entry[] {
  const path = entriesPath(adapter)
  const text = Object.hasOwn(content, path) ? content[path] : undefined
  if (text === undefined) throw invalid('no_entries', `the release holds no ${path}: it was not rendered from a tree for ${adapter.name}`)
  const entries = listIn(text)
  if (entries === null) throw invalid('no_entries', `${path} of the release is not a list of entries`)
  return entries
}

function listIn(text: string): readonly Entry[] | null {
  try {
    const entries: unknown = JSON.parse(text)
    return Array.isArray(entries) && entries.every(isEntry) ? entries : null
  } catch {
    return null
  }
}

function isEntry(value: Json): value is Json & Entry {
  return isObject(value) && typeof value['id'] === 'string' && typeof value['name'] === 'string' && isObject(value['config'])
}

/** Adds the entries to files rendered elsewhere, unless the files hold them already. */
export function withEntries(adapter: Adapter | undefined, files: Files, entries: readonly Entry[]): Files {
  const path = adapter === undefined ? ENTRIES_FILE : entriesPath(adapter)
  return Object.hasOwn(files, path) ? files : { ...files, [path]: printJson(entries.map(jsonOf)) }
}

export function isSameContent(one: Files, other: Files): boolean {
  const paths = Object.keys(one)
  return paths.length === Object.keys(other).length && paths.every((path) => Object.hasOwn(other, path) && one[path] === other[path])
}

/** Null when the value is not a list of entries. */
export function entriesFrom(value: Json | undefined): readonly Entry[] | null {
  return Array.isArray(value) && value.every(isEntry) ? value : null
}

/** The files that clients pull. */
export function pulledFiles(content: Files): Files {
  const { [ENTRIES_FILE]: _, ...files } = content
  return files
}
