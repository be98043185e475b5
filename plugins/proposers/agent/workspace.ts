/** The harness as in-memory files that an agent reads and writes. Nothing here is run. */
import { isDeepStrictEqual } from 'node:util'
import { ENTRY_CODE_BYTES_MAX, isObject, TREE_ENTRIES_MAX } from '../../../src/contract/index.ts'
import type { Brief, Entry, Json, JsonObject } from '../../../src/contract/index.ts'
import { kindProblem, mutationsOf, needsIn, type Drafted } from '../../../src/evolution/index.ts'
import { isReserved } from '../../../src/harness/index.ts'

const DESIGN = 'design.md'
const REQUIRES = 'harness/requires.json'

/** Kinds that are one text, and its config field. The others are files of JSON. */
const TEXTS: Readonly<Record<string, { readonly field: string; readonly ending: string }>> = {
  rules: { field: 'text', ending: 'md' },
  skill: { field: 'text', ending: 'md' },
  agent_command: { field: 'text', ending: 'md' },
  code_extension: { field: 'code', ending: 'ts' },
}

export type Workspace = ReturnType<typeof openWorkspace>

/** Results are texts for the agent. */
export function openWorkspace({ adapter, entries }: Pick<Brief, 'adapter' | 'entries'>) {
  const isMine = (entry: Entry): boolean => !isReserved(entry.id) && kindProblem(adapter, entry.name, entry.config) === null
  const mine = new Map(entries.filter(isMine).map((entry) => [pathOf(entry), entry]))
  const reference = new Map(entries.filter((entry) => !isMine(entry)).map((entry) => [`reference/${fileOf(entry)}`, textOf(entry)]))
  const files = new Map([...mine].map(([path, entry]) => [path, textOf(entry)]))

  const writeProblem = (path: string, text: string): string | null => {
    if (path.startsWith('reference/')) return 'files under reference/ cannot be changed'
    if (Buffer.byteLength(text) > ENTRY_CODE_BYTES_MAX) return `a file must be at most ${ENTRY_CODE_BYTES_MAX} bytes`
    if (files.size >= TREE_ENTRIES_MAX && !files.has(path)) return `there may be ${TREE_ENTRIES_MAX} files`
    return path === DESIGN || path === REQUIRES || placeOf(path) !== null ? null : PLACES
  }

  return {
    list: (): string =>
      [
        ...[...files].map(([path, text]) => `${path} (${text.length} characters)`),
        ...[...reference.keys()].map((path) => `${path} (read only)`),
      ].join('\n') || '(no files yet)',
    read: (path: string): string | null => files.get(path) ?? reference.get(path) ?? null,
    write(path: string, text: string): string {
      const problem = writeProblem(path, text)
      if (problem !== null) return problem
      files.set(path, text)
      return `written: ${path}`
    },
    remove: (path: string): string => (files.delete(path) ? `removed: ${path}` : `there is no file ${path} to remove`),
    /** The change that the files make, or why they are not valid; null when nothing changed. */
    change: () => changeOf(files, mine, { adapter, entries }),
  }
}

const PLACES = `write ${DESIGN}, ${REQUIRES} or harness/<kind>/<id>.<ending>: md for rules, skill and agent_command, ts for code_extension, json for every other kind`

const pathOf = (entry: Entry): string => `harness/${entry.name}/${fileOf(entry)}`
const fileOf = ({ id, name }: Entry): string => `${id}.${TEXTS[name]?.ending ?? 'json'}`

function textOf({ name, config }: Entry): string {
  const text = config[TEXTS[name]?.field ?? '']
  return typeof text === 'string' ? text : JSON.stringify(config, null, 2)
}

function placeOf(path: string): { readonly kind: string; readonly id: string } | null {
  const [, kind = '', id = '', ending = ''] = /^harness\/([a-z_]+)\/([^/\\]+)\.([a-z]+)$/.exec(path) ?? []
  return id !== '' && ending === (TEXTS[kind]?.ending ?? 'json') ? { kind, id } : null
}

/** A missing file is a removal; a file whose id another kind had is a removal and a creation. */
function changeOf(
  files: ReadonlyMap<string, string>,
  mine: ReadonlyMap<string, Entry>,
  { adapter, entries }: Pick<Brief, 'adapter' | 'entries'>,
): Drafted | string | null {
  const removes = [...mine].filter(([path]) => !files.has(path)).map(([, { id }]) => id)
  const wanted: JsonObject[] = []
  for (const [path, text] of files) {
    const old = mine.get(path)
    const place = placeOf(path)
    if (place === null || (old !== undefined && textOf(old) === text)) continue
    const config = configOf(place.kind, place.id, text, old)
    if (config === null) return `${path} must be one JSON object, the config of the entry`
    if (!isDeepStrictEqual(old?.config, config)) wanted.push({ id: place.id, name: place.kind, config })
  }
  if (wanted.length + removes.length === 0) return null
  const items = requiresIn(files.get(REQUIRES))
  if (items === null) return `${REQUIRES} must be one JSON array of items {"name", "kind"}`
  const { mutations, dropped } = mutationsOf({ design: '', entries: wanted, removes, requires: [] }, entries, adapter)
  if (dropped.length > 0) return dropped.join('; ')
  return { mutations, dropped, ...needsIn(items), design: files.get(DESIGN) ?? '' }
}

/** Keeps the entry's name, or takes the file's. */
function configOf(kind: string, id: string, text: string, old: Entry | undefined): JsonObject | null {
  const form = TEXTS[kind]
  if (form === undefined) {
    const config = parsed(text)
    return isObject(config) ? config : null
  }
  if (kind === 'rules') return { text }
  return { name: old?.config['name'] ?? id, [form.field]: text }
}

function requiresIn(text: string | undefined): readonly Json[] | null {
  const items = text === undefined || text.trim() === '' ? [] : parsed(text)
  return Array.isArray(items) ? items : null
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
