/** A tree as content: its rendered files, and the entries they were rendered from beside them, so that a release holds everything the next one starts from. */
import { invalid, isObject, TREE_BYTES_MAX, TREE_ENTRIES_MAX, type Adapter, type Entry, type Files, type Json } from '../contract/index.ts'
import { renderTree } from './render.ts'
import { printJson } from './support/print.ts'

/** Where the entries are when the adapter has no place for them. Clients that pull the tree are not given this file. */
const ENTRIES_FILE = '.svc-tree.json'

const entriesPath = ({ layout }: Adapter): string => layout.tree ?? ENTRIES_FILE

/** What a release of this tree holds. */
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

/** An entry with what it has to have and nothing else: one that is not disabled says nothing of it. */
export const plainEntry = ({ id, name, config, disabled }: Entry): Entry => ({ id, name, config, ...(disabled === true && { disabled }) })

/** The entries a content was made from. */
export function entriesIn(adapter: Adapter, content: Files): readonly Entry[] {
  const path = entriesPath(adapter)
  const text = Object.hasOwn(content, path) ? content[path] : undefined
  if (text === undefined) throw invalid('no_entries', `the release holds no ${path}: it was not rendered from a tree for ${adapter.name}`)
  const entries = listIn(text)
  if (entries === null) throw invalid('no_entries', `${path} of the release is no list of entries`)
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

/** Files that were rendered elsewhere, with the entries they were rendered from beside them; where the files hold those already they stay as they are. */
export function withEntries(adapter: Adapter | undefined, files: Files, entries: readonly Entry[]): Files {
  const path = adapter === undefined ? ENTRIES_FILE : entriesPath(adapter)
  return Object.hasOwn(files, path) ? files : { ...files, [path]: printJson(entries.map(jsonOf)) }
}

/** The entries in what may be a list of them; null when it is none. */
export function entriesFrom(value: Json | undefined): readonly Entry[] | null {
  return Array.isArray(value) && value.every(isEntry) ? value : null
}

/** What clients pull of a content. */
export function pulledFiles(content: Files): Files {
  const { [ENTRIES_FILE]: _, ...files } = content
  return files
}
