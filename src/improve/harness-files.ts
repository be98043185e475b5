/**
 * The harness of a repository as entries, and back: which file is which entry, and which files a better tree changes. A file whose entry did
 * not change is never touched, and neither is one that the agent's adapter refuses.
 */
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { isRefusal, type Adapter, type Entry, type Files } from '../contract/index.ts'
import { entriesIn, entryProblem, renderTree } from '../harness/index.ts'
import { codeOf, isMissing } from '../kit/index.ts'
import type { HarnessPlaces } from './agents.ts'

export interface HarnessRead {
  readonly entries: readonly Entry[]
  /** The file of each entry, by the path that the adapter renders it to. */
  readonly sources: Readonly<Record<string, SourceFile>>
  readonly leftOut: readonly LeftOut[]
  /** Where new ones of a kind go, with `{name}`. */
  readonly newAt: Readonly<Partial<Record<Kind, string>>>
}

interface SourceFile {
  /** Below the repository. */
  readonly path: string
  readonly text: string
  readonly isExecutable: boolean
}

export interface LeftOut {
  readonly path: string
  readonly why: string
}

const FILE_BYTES_MAX = 1024 * 1024
const KINDS = ['skill', 'agent_command'] as const
type Kind = (typeof KINDS)[number]

/** The tree of a repository for an agent. Nothing is written. */
export async function readHarness(adapter: Adapter, places: HarnessPlaces, folder: string): Promise<HarnessRead> {
  const { candidates, leftOut } = await candidatesIn(places, folder)
  const read = await Promise.all(candidates.map((place) => readCandidate(folder, place)))
  const newAt = await newPlaces(places, folder)
  let tree: HarnessRead = {
    entries: [],
    sources: {},
    leftOut: [...leftOut, ...read.flatMap((each) => ('why' in each ? [each] : []))],
    newAt,
  }
  for (const each of read) if ('entry' in each) tree = taken(adapter, tree, each)
  return tree
}

interface Candidate {
  readonly path: string
  readonly entry: (text: string) => Entry
}
type ReadCandidate = { readonly entry: Entry; readonly source: SourceFile }

/** The first rules file that is there, and every skill and command; of two with one name the first place's. */
async function candidatesIn(places: HarnessPlaces, folder: string) {
  const rules = await rulesIn(places.rules, folder)
  const named = await Promise.all(KINDS.flatMap((kind) => places[kind].map((template) => namesIn(folder, kind, template))))
  const leftOut = named.flatMap((each) => ('why' in each ? [each] : []))
  const all = named.flatMap((each) => ('why' in each ? [] : each))
  const candidates: readonly Candidate[] = [
    ...rules.map((path) => ({ path, entry: (text: string): Entry => ({ id: 'rules', name: 'rules', config: { text } }) })),
    ...all.filter(({ key }, at) => all.findIndex((other) => other.key === key) === at),
  ]
  return { candidates, leftOut }
}

/** A file that only points to another, as `@AGENTS.md`, stands for that one. */
async function rulesIn(paths: readonly string[], folder: string): Promise<readonly string[]> {
  for (const path of paths) {
    if ((await stat(join(folder, path)).catch(() => null)) === null) continue
    const read = await readSource(folder, path)
    const [, other] = ('text' in read ? /^@(?:\.\/)?([\w.-]+\.md)$/.exec(read.text.trim()) : null) ?? []
    const pointed = other === undefined ? null : await lstat(join(folder, other)).catch(() => null)
    return [other !== undefined && pointed?.isFile() === true ? other : path]
  }
  // A link that leads nowhere stands where new rules would go.
  const [first = ''] = paths
  return (await lstat(join(folder, first)).catch(() => null)) === null ? [] : [first]
}

interface NamedCandidate extends Candidate {
  readonly key: string
}

async function namesIn(folder: string, kind: Kind, template: string): Promise<readonly NamedCandidate[] | LeftOut> {
  const [head = '', tail = ''] = template.split('{name}')
  const path = head.replace(/\/$/, '')
  const listed = await listing(folder, path)
  if ('why' in listed) return listed
  const isFolder = tail.startsWith('/')
  const names = listed.flatMap((each) =>
    isFolder ? (each.isFile() ? [] : [each.name]) : each.name.endsWith(tail) ? [each.name.slice(0, -tail.length)] : [],
  )
  return names.toSorted().map((name) => ({
    key: `${kind} ${name}`,
    path: `${head}${name}${tail}`,
    entry: (text) => ({ id: `${kind}.${name}`, name: kind, config: { name, text } }),
  }))
}

async function listing(folder: string, path: string) {
  try {
    const below = await pathBelow(folder, path)
    return below === null ? { path, why: OUTSIDE } : await readdir(join(folder, path), { withFileTypes: true })
  } catch (error) {
    return isMissing(error) ? [] : { path, why: unreadable(error) }
  }
}

async function newPlaces(places: HarnessPlaces, folder: string): Promise<HarnessRead['newAt']> {
  const found = await Promise.all(KINDS.map(async (kind) => [kind, await newPlace(folder, places[kind][0])] as const))
  return Object.fromEntries(found.filter(([, place]) => place !== null))
}

/** A folder may be a link to where another agent has the same: a new file must not take its place. Null where it leads nowhere, or out of the folder. */
async function newPlace(folder: string, template: string | undefined): Promise<string | null> {
  if (template === undefined) return null
  const [head = '', tail = ''] = template.split('{name}')
  const parts = head.split('/').slice(0, -1)
  for (let count = parts.length; count > 0; count -= 1) {
    const path = parts.slice(0, count).join('/')
    if ((await lstat(join(folder, path)).catch(() => null)) === null) continue
    const below = await pathBelow(folder, path).catch(() => null)
    return below === null ? null : `${[below, ...parts.slice(count)].join('/')}/{name}${tail}`
  }
  return template
}

const OUTSIDE = 'it leads out of the folder that is improved'
const unreadable = (error: unknown): string => `it cannot be read (${codeOf(error) ?? 'unreadable'})`

/** Where the path leads; null: out of the folder. */
async function pathBelow(folder: string, path: string): Promise<string | null> {
  const below = relative(await realpath(folder), await realpath(join(folder, path)))
    .split(sep)
    .join('/')
  return below === '..' || below.startsWith('../') ? null : below
}

async function readCandidate(folder: string, { path, entry }: Candidate): Promise<ReadCandidate | LeftOut> {
  const source = await readSource(folder, path)
  return 'why' in source ? source : { entry: entry(unixLines(source.text)), source }
}

/** A link counts as the file it leads to, as long as that is a page of the repository: another file may hold a secret, or have no end. */
async function readSource(folder: string, path: string): Promise<SourceFile | LeftOut> {
  try {
    const below = await pathBelow(folder, path)
    if (below === null) return { path, why: OUTSIDE }
    if (!PAGE.test(below)) return { path, why: `it leads to ${below}, which is no page of rules` }
    const found = await lstat(join(folder, below))
    if (!found.isFile()) return { path, why: 'it is no plain file' }
    if (found.size > FILE_BYTES_MAX) return { path, why: `it is larger than ${FILE_BYTES_MAX} bytes` }
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(join(folder, below)))
    return { path: below, text, isExecutable: (found.mode & 0o111) !== 0 }
  } catch (error) {
    return { path, why: error instanceof TypeError ? 'it is no text in UTF-8' : unreadable(error) }
  }
}

const PAGE = /^(?!\.git\/).*\.md$/i

export const unixLines = (text: string): string => text.replaceAll('\r\n', '\n')

/** The tree with the entry, or without it where the agent's adapter refuses it. */
function taken(adapter: Adapter, tree: HarnessRead, { entry, source }: ReadCandidate): HarnessRead {
  // An empty file is no entry, and new rules go into it.
  if (source.text.trim() === '')
    return entry.name === 'rules' ? { ...tree, sources: { ...tree.sources, [adapter.layout.rules ?? '']: source } } : tree
  const problem = problemWith(adapter, [...tree.entries, entry])
  if (problem !== null) return { ...tree, leftOut: [...tree.leftOut, { path: source.path, why: problem }] }
  const before = renderTree(adapter, tree.entries)
  const rendered = Object.keys(renderTree(adapter, [...tree.entries, entry])).find((path) => !Object.hasOwn(before, path)) ?? ''
  return { ...tree, entries: [...tree.entries, entry], sources: { ...tree.sources, [rendered]: source } }
}

function problemWith(adapter: Adapter, entries: readonly Entry[]): string | null {
  const last = entries.at(-1)
  if (last === undefined) return null
  try {
    renderTree(adapter, entries)
    return entryProblem(adapter, last)
  } catch (error) {
    if (isRefusal(error)) return error.message
    throw error
  }
}

/** The entries that these rendered files came from: as the agent's own file lists them, else one for each file without the settings. */
export function entriesOf(adapter: Adapter, files: Files): readonly Entry[] {
  const { layout } = adapter
  if (layout.tree !== undefined && Object.hasOwn(files, layout.tree)) return entriesIn(adapter, files)
  return Object.entries(files).flatMap(([path, text]): readonly Entry[] => {
    if (path === layout.rules) return [{ id: 'rules', name: 'rules', config: { text } }]
    for (const kind of KINDS) {
      const name = nameAt(layout.named[kind] ?? '', path)
      if (name !== null) return [{ id: `${kind}.${name}`, name: kind, config: { name, text } }]
    }
    return []
  })
}

function nameAt(template: string, path: string): string | null {
  const [head = '', tail] = template.split('{name}')
  if (tail === undefined || !path.startsWith(head) || !path.endsWith(tail) || path.length <= head.length + tail.length) return null
  const name = path.slice(head.length, path.length - tail.length)
  return name.includes('/') ? null : name
}

/** Whether the path is one that the agent reads its harness from, whatever its name. */
export const isHarnessPath = (places: HarnessPlaces, path: string): boolean =>
  places.rules.includes(path) || KINDS.some((kind) => places[kind].some((template) => nameAt(template, path) !== null))

/** A file of the repository before and after. Null: it is not there. */
export interface RepositoryChange {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
  readonly isExecutable: boolean
}

/** What the better tree changes in the repository: texts that render the same stay as they are, byte by byte. */
export function changesOf(adapter: Adapter, { rules }: HarnessPlaces, read: HarnessRead, served: Files): readonly RepositoryChange[] {
  const before = renderTree(adapter, read.entries)
  const after = renderTree(adapter, entriesOf(adapter, served))
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path])
  return paths.flatMap((path) => {
    const source = read.sources[path]
    const target = source?.path ?? (path === adapter.layout.rules ? (rules[0] ?? null) : targetOf(adapter, read.newAt, path))
    if (target === null || read.leftOut.some(({ path: left }) => left === target || target.startsWith(`${left}/`))) return []
    const text = after[path]
    return [
      {
        path: target,
        before: source?.text ?? null,
        after: text === undefined ? null : source?.text.includes('\r\n') === true ? text.replaceAll('\n', '\r\n') : text,
        isExecutable: source?.isExecutable ?? false,
      },
    ]
  })
}

/** Where a new skill or command goes; null for what has no place in a repository. */
function targetOf({ layout }: Adapter, newAt: HarnessRead['newAt'], path: string): string | null {
  for (const kind of KINDS) {
    const name = nameAt(layout.named[kind] ?? '', path)
    if (name !== null) return newAt[kind]?.replaceAll('{name}', () => name) ?? null
  }
  return null
}
