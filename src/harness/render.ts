/** Renders a tree to files by an adapter's layout. Pure; an adapter's `finish` may change the result. */
import {
  checkFiles,
  invalid,
  isObject,
  NAMED_KINDS,
  TREE_BYTES_MAX,
  type Adapter,
  type ConfigPatch,
  type Draft,
  type Entry,
  type Files,
  type Json,
  type JsonObject,
  type ModelAddress,
  type NamedKind,
} from '../contract/index.ts'
import { nativeProblems } from './native.ts'
import { beginsLikeHead } from './support/front-matter.ts'
import { printJson } from './support/print.ts'
import { configIn } from './support/settings.ts'

/** The files of the enabled entries. With a model they hold its address and key, and must not be stored. */
export function renderTree(adapter: Adapter, entries: readonly Entry[], model?: ModelAddress): Files {
  const inForce = entries.filter(({ disabled }) => disabled !== true)
  const binding = model === undefined ? [] : bindingOf(adapter, model)
  const draft: Draft = {
    config: configOf(adapter, inForce, binding),
    files: { ...rulesFile(adapter, inForce), ...namedFiles(adapter, inForce) },
    entries: inForce,
    binding,
  }
  if (isNative(adapter)) refuseNative(inForce)
  const files = adapter.finish === undefined ? printed(adapter, draft) : adapter.finish(draft)
  checkFiles(files)
  checkDistinct(Object.keys(files))
  if (bytesOf(files) > TREE_BYTES_MAX)
    throw invalid('tree_too_large', `the files of a tree must be at most ${TREE_BYTES_MAX} bytes together`)
  return files
}

/** Uses the model's API where the adapter supports it, else the adapter's first: the service answers all of them. */
function bindingOf({ bindings, name }: Adapter, model: ModelAddress): readonly ConfigPatch[] {
  const bind = bindings[model.api] ?? Object.values(bindings)[0]
  if (bind === undefined) throw invalid('no_binding', `adapter ${name} has no way to set the model`)
  return bind(model)
}

function configOf({ name, layout }: Adapter, entries: readonly Entry[], binding: readonly ConfigPatch[]): Record<string, JsonObject> {
  const config = new Map(Object.entries(layout.config).map(([target, { defaults = {} }]): [string, JsonObject] => [target, defaults]))
  const patches = [...configIn(entries), ...binding.map((patch) => ({ id: 'the binding', ...patch }))]
  for (const { id, target, data } of patches) {
    const before = config.get(target)
    if (before === undefined)
      throw invalid('unknown_target', `${id}: config target ${target} is not one of ${name}'s; there are: ${[...config.keys()].join(', ')}`)
    config.set(target, merged(before, data))
  }
  return Object.fromEntries(config)
}

/** Objects are merged key by key, anything else is replaced. */
export function merged(before: JsonObject, after: JsonObject): JsonObject {
  const both = Object.entries(after).map(([key, value]): [string, Json] => {
    const old = Object.hasOwn(before, key) ? before[key] : undefined
    return [key, isObject(old) && isObject(value) ? merged(old, value) : value]
  })
  return Object.fromEntries([...Object.entries(before), ...both])
}

function rulesFile({ name, layout }: Adapter, entries: readonly Entry[]): Files {
  const rules = entries.filter((entry) => entry.name === 'rules')
  const [first] = rules
  if (first === undefined) return {}
  if (layout.rules === undefined) throw invalid('unknown_kind', `${first.id}: adapter ${name} does not render rules`)
  // Agents drop front matter, which would end somewhere in the rules of another entry.
  const odd = rules.find((entry) => beginsLikeHead(textOf(entry, 'text')))
  if (odd !== undefined) throw invalid('bad_front_matter', `${odd.id}: rules have no front matter; begin the text with a word`)
  const texts = rules.map((entry) => textOf(entry, 'text').trim())
  return { [layout.rules]: `${texts.join('\n\n')}\n` }
}

/**
 * Two entries with one path would lose one of them, on some file systems also when only the case differs. A skill and a command with one name
 * would do so too: agents call both by it.
 */
function namedFiles(adapter: Adapter, entries: readonly Entry[]): Files {
  const owners = new Map(takenPaths(adapter).map((path): [string, string] => [folded(path), "the adapter's own file"]))
  const callers = new Map<string, string>()
  const files: [string, string][] = []
  for (const entry of entries) {
    if (!isNamed(entry.name)) continue
    const path = pathOf(adapter, entry.name, textOf(entry, 'name'), entry.id)
    const owner = owners.get(folded(path))
    if (owner !== undefined) throw invalid('path_collision', `${entry.id} and ${owner} are both rendered to ${path}; rename one of them`)
    owners.set(folded(path), entry.id)
    const call = isCalled(entry.name) ? folded(textOf(entry, 'name')) : null
    const other = call === null ? undefined : callers.get(call)
    if (other !== undefined) throw invalid('path_collision', `${entry.id} and ${other} are both called by one name; rename one of them`)
    if (call !== null) callers.set(call, entry.id)
    files.push([path, withNewline(bodyOf(entry))])
  }
  return Object.fromEntries(files)
}

const isCalled = (kind: string): boolean => kind === 'skill' || kind === 'agent_command'

const takenPaths = ({ layout }: Adapter): readonly string[] => [
  ...Object.values(layout.config).map(({ path }) => path),
  ...[layout.rules, layout.tree].filter((path) => path !== undefined),
]

const folded = (path: string): string => path.normalize('NFC').toLowerCase()

const isNamed = (kind: string): kind is NamedKind => NAMED_KINDS.some((named) => named === kind)

function pathOf({ name: adapter, layout }: Adapter, kind: NamedKind, name: string, id: string): string {
  const template = layout.named[kind]
  if (template === undefined) throw invalid('unknown_kind', `${id}: adapter ${adapter} does not render ${kind}`)
  const path = template.replaceAll('{name}', () => name)
  if (path.split('/').some((segment) => INVALID_ON_WINDOWS.test(segment)))
    throw invalid('bad_path', `${id}: config.name is not a valid file name on some systems; choose another`)
  return path
}

/** Windows device names, with or without an extension, and trailing dots, which Windows drops. */
const INVALID_ON_WINDOWS = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|\.$/i

function bodyOf(entry: Entry): string {
  if (entry.name === 'native_graph' || entry.name === 'native_agent') return printJson(entry.config)
  return textOf(entry, 'code' in entry.config ? 'code' : 'text')
}

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)

function textOf({ id, config }: Entry, field: string): string {
  const value = config[field]
  if (typeof value === 'string') return value
  throw invalid('bad_entry', `${id}: config.${field} must be text`)
}

const isNative = ({ layout }: Adapter): boolean =>
  NAMED_KINDS.some((kind) => kind.startsWith('native_') && layout.named[kind] !== undefined)

function refuseNative(entries: readonly Entry[]): void {
  const [problem] = nativeProblems(entries)
  if (problem !== undefined) throw invalid('bad_native_tree', problem)
}

/** The files of an adapter without `finish`. */
export function printed({ layout }: Pick<Adapter, 'layout'>, { config, files }: Draft): Files {
  const settings = Object.entries(config).map(([target, data]) => [layout.config[target]?.path ?? target, printJson(data)])
  return { ...Object.fromEntries(settings), ...files }
}

/** Includes files that the adapter added: equal paths on some file system would lose a file there. */
function checkDistinct(paths: readonly string[]): void {
  const files = new Map<string, string>()
  for (const path of paths) {
    const same = files.get(folded(path))
    if (same !== undefined) throw invalid('path_collision', `${same} and ${path} differ by case alone; rename one of them`)
    files.set(folded(path), path)
  }
  const folder = paths.flatMap(foldersOf).find((name) => files.has(folded(name)))
  if (folder !== undefined) throw invalid('path_collision', `${folder} is a file and a folder at once; rename one of them`)
}

function foldersOf(path: string): readonly string[] {
  const segments = path.split('/')
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'))
}

const bytesOf = (files: Files): number => Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
