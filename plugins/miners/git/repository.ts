/**
 * Reads the history of a repository through an empty repository of our own that borrows its objects: settings, hooks, attributes and remotes of
 * the repository are never in force, and nothing is checked out.
 */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { invalid, type Dependencies } from '../../../src/contract/index.ts'
import { GitFailure, runGit } from '../../../src/git/index.ts'
import { makeOwnFolder, removeLeftFolders } from '../../../src/kit/index.ts'
import { dependenciesOf, installedBelow } from './installed.ts'

export interface HistoryCommit {
  readonly id: string
  readonly parent: string
  readonly message: string
  /** Seconds since 1970. */
  readonly time: number
}
export interface FileChanged {
  readonly status: 'added' | 'changed' | 'deleted'
  readonly path: string
  readonly modes: readonly [before: string, after: string]
  readonly ids: readonly [before: string, after: string]
}
export interface TreeFile {
  readonly path: string
  readonly mode: string
  readonly id: string
  readonly bytes: number
}

export interface Repository {
  /** Newest first, without merges and roots. */
  commits(max: number): Promise<readonly string[]>
  /** Those that can be read. */
  read(ids: readonly string[]): Promise<readonly HistoryCommit[]>
  /** By commit; null for a path that is no text. */
  changes(ids: readonly string[]): Promise<ReadonlyMap<string, readonly FileChanged[] | null>>
  /** Plain files alone, without links, submodules and odd names; null where one of them was not fetched. */
  files(commit: string): Promise<readonly TreeFile[] | null>
  /** Absent: missing in the repository. */
  blobs(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>
  /** What is installed in the checkout and not part of its history; nothing where there is no checkout. */
  installed(): Promise<Dependencies>
  close(): Promise<void>
}

export async function openRepository(source: string, signal: AbortSignal): Promise<Repository> {
  const { head, format, objects, shallow, top } = await locate(source, signal)
  await removeLeftFolders('miner')
  const own = await makeOwnFolder('miner')
  const run = (args: readonly string[], input = ''): Promise<Buffer> => runGit([`--git-dir=${own}`, ...args], { input, signal })
  try {
    await runGit(['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, own], { signal })
    await writeFile(join(own, 'objects/info/alternates'), `${quoted(objects)}\n`)
    if (shallow !== null) await writeFile(join(own, 'shallow'), shallow)
  } catch (error) {
    await rm(own, { recursive: true, force: true })
    throw error
  }
  return {
    commits: async (max) => lines(await run(['rev-list', `--max-count=${max}`, '--min-parents=1', '--max-parents=1', head])),
    read: async (ids) => [...(await objectsOf(run, ids))].flatMap(([id, bytes]) => commitIn(id, bytes.toString('utf8'))),
    // Many at once, since starting git takes longer than what it does.
    changes: async (ids) => changesIn(await run(DIFF, ids.map((id) => `${id}\n`).join(''))),
    files: async (commit) => filesIn(await run(['ls-tree', '-r', '-l', '-z', '--full-tree', commit])),
    blobs: (ids) => objectsOf(run, ids),
    installed: async () => {
      if (top === null) return {}
      // By names alone: a clone without all contents has no sizes of files.
      const tracked = (await run(['ls-tree', '-r', '-z', '--name-only', '--full-tree', head])).toString().split('\0')
      return dependenciesOf(await installedBelow(top), tracked)
    },
    close: () => rm(own, { recursive: true, force: true }),
  }
}

const DIFF = ['diff-tree', '--stdin', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff', '--no-textconv']

/** These read the repository's settings, and start nothing. */
async function locate(source: string, signal: AbortSignal) {
  const ask = async (...words: readonly string[]): Promise<string> =>
    (await runGit(['-C', source, 'rev-parse', '--path-format=absolute', ...words], { asUser: true, signal })).toString().replace(/\n$/, '')
  try {
    const objects = await ask('--git-path', 'objects')
    const format = await ask('--show-object-format')
    const head = await ask('--verify', '--quiet', 'HEAD').catch((error: unknown) => {
      throw error instanceof GitFailure ? invalid('no_history', `${JSON.stringify(source)} has no commit; commit something first`) : error
    })
    const shallow = await readFile(await ask('--git-path', 'shallow'), 'utf8').catch(() => null)
    const top = await ask('--show-toplevel').catch(() => null)
    return { head, format, objects, shallow, top }
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    throw invalid(
      'no_repository',
      `${JSON.stringify(source)} is not a folder of a git repository that can be read (${firstLine(error)}); name one in which git status works`,
    )
  }
}

const firstLine = ({ stderr }: GitFailure): string => stderr.trim().split('\n', 1).join('')

/** As git quotes a path in its file of alternates. */
const quoted = (path: string): string =>
  // oxlint-disable-next-line no-control-regex
  `"${path.replaceAll(/["\\]/g, '\\$&').replaceAll(/[\u0000-\u001f]/g, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`

const lines = (printed: Buffer): readonly string[] =>
  printed
    .toString()
    .split('\n')
    .filter((line) => line !== '')

const LINE_END = 10

/** In the order asked for; what is missing is left out. */
async function objectsOf(
  run: (args: readonly string[], input: string) => Promise<Buffer>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>()
  if (ids.length === 0) return found
  const printed = await run(['cat-file', '--batch'], ids.map((id) => `${id}\n`).join(''))
  for (let at = 0; at < printed.length;) {
    const end = printed.indexOf(LINE_END, at)
    if (end < 0) break
    const [id = '', type, size] = printed.toString('latin1', at, end).split(' ')
    at = end + 1
    if (type === undefined || size === undefined) continue
    found.set(id, printed.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
  return found
}

function commitIn(id: string, text: string): readonly HistoryCommit[] {
  const end = text.indexOf('\n\n')
  const head = end < 0 ? text : text.slice(0, end)
  const parents = [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = '']) => parent)
  const [, time = '0'] = /^committer .* (\d+) [+-]\d+$/m.exec(head) ?? []
  const [parent] = parents
  return parent === undefined || parents.length > 1 ? [] : [{ id, parent, message: end < 0 ? '' : text.slice(end + 2), time: Number(time) }]
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function textOf(bytes: Buffer): string | null {
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}

const STATUS = new Map([
  ['A', 'added'],
  ['M', 'changed'],
  ['T', 'changed'],
  ['D', 'deleted'],
] as const)

/** Each commit is its id, then the modes and ids of each of its files, followed by the path. */
function changesIn(printed: Buffer): ReadonlyMap<string, readonly FileChanged[] | null> {
  const found = new Map<string, FileChanged[] | null>()
  const fields = printed.toString('latin1').split('\0')
  let commit = ''
  for (let at = 0; at + 1 < fields.length; at += 1) {
    const field = fields[at] ?? ''
    if (!field.startsWith(':')) {
      commit = field
      found.set(commit, [])
      continue
    }
    at += 1
    const change = changeIn(field, Buffer.from(fields[at] ?? '', 'latin1'))
    if (change === null) found.set(commit, null)
    else found.get(commit)?.push(change)
  }
  return found
}

function changeIn(field: string, name: Buffer): FileChanged | null {
  const [before = '', after = '', idBefore = '', idAfter = '', letter = ''] = field.slice(1).split(' ')
  const status = [...STATUS].find(([each]) => each === letter)?.[1]
  const path = textOf(name)
  return status === undefined || path === null ? null : { status, path, modes: [before, after], ids: [idBefore, idAfter] }
}

const PLAIN_MODES: ReadonlySet<string> = new Set(['100644', '100755', '100664'])

function filesIn(printed: Buffer): readonly TreeFile[] | null {
  const files: TreeFile[] = []
  for (let at = 0; at < printed.length;) {
    const end = printed.indexOf(0, at)
    const entry = textOf(printed.subarray(at, end < 0 ? printed.length : end))
    at = end < 0 ? printed.length : end + 1
    const [, mode = '', , id = '', size = '', path = ''] = /^(\d+) (\w+) ([0-9a-f]+) +(\d+|BAD)\t([^]*)$/.exec(entry ?? '') ?? []
    if (size === 'BAD') return null
    if (PLAIN_MODES.has(mode)) files.push({ path, mode, id, bytes: Number(size) })
  }
  return files
}
