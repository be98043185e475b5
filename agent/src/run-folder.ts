/**
 * The folder that one run of the agent takes for its home: the tree and the binding as files of the run's own, and links to what the agent
 * keeps from one run to the next. Whatever else it leaves there goes: a later release would load it, and nobody has seen it.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isAlive } from '@svc-ai/client/shared'
import { ifAbsent, ignoring } from './failure.ts'
import { inFolder } from './places.ts'
import type { InstallRecord } from './record.ts'
import { giveFields, takeFields, type StateFields } from './state-fields.ts'
import { PRIVATE, readIfThere, writeWhole } from './whole-file.ts'
import { mkdirp } from '@svc-ai/client/folders'

export interface RunFolder {
  /** What `{root}` stands for. */
  readonly root: string
  /** From then on the folder is left alone for as long as this process lives, too. */
  heldBy(pid: number): Promise<void>
  /** Takes back what the agent left, and removes the folder. */
  end(): Promise<void>
}

interface Note {
  /** The processes that use the folder. */
  readonly pids: readonly number[]
  /** Paths of the tree and of the binding, and what is the harness's alone: whatever the agent made of them is not kept. */
  readonly ours: readonly string[]
  /** What the agent keeps; a folder's path ends in `/`. */
  readonly kept: readonly string[]
  readonly fields: StateFields
}

const NOTE = '.json'

/** The note goes first: what a run has begun to write is found by the next one, however early it was killed. */
export async function makeRunFolder(
  folder: string,
  record: InstallRecord,
  session: string,
  binding: Readonly<Record<string, string>>,
): Promise<RunFolder> {
  const { runs, state } = inFolder(folder)
  const root = join(runs, session)
  const ours = [...new Set([...Object.keys(record.files), ...Object.keys(binding), ...record.harness_paths])]
  const { state: kept, state_fields: fields = {} } = record.client
  const note = (pids: readonly number[]): Promise<void> =>
    writeWhole({ path: `${root}${NOTE}`, text: JSON.stringify({ pids, ours, kept, fields } satisfies Note), mode: PRIVATE })
  await mkdirp(runs, { mode: 0o700 })
  await note([process.pid])
  await mkdir(root, { mode: 0o700 })
  await makeState(state, kept)
  for (const [path, text] of Object.entries(binding)) await writeBelow(root, path, text)
  for (const path of Object.keys(record.files)) await copyUnlessThere(root, path, join(record.destination, path))
  for (const path of kept.map(withoutSlash)) await linkUnlessThere(root, path, join(state, path))
  await linkKept({ root, state, ours: new Set(ours), kept }, '')
  await giveFields(fields, state, root)
  return {
    root,
    heldBy: (pid) => note([process.pid, pid]),
    end: () => takeBack(folder, session, { ours, kept, fields }),
  }
}

/** Folders first, so that sessions that run at the same time share them from the start. */
async function makeState(state: string, kept: readonly string[]): Promise<void> {
  await mkdirp(state, { mode: 0o700 })
  for (const path of kept) await mkdirp(join(state, path.endsWith('/') ? path : dirname(path)), { mode: 0o700 })
}

async function writeBelow(root: string, path: string, text: string): Promise<void> {
  await mkdirp(dirname(join(root, path)), { mode: 0o700 })
  await writeFile(join(root, path), text, { mode: PRIVATE, flag: 'wx' })
}

/** No links: some agents pass over a file that is one, and an update would change the files of a session that was begun with others. */
async function copyUnlessThere(root: string, path: string, source: string): Promise<void> {
  if (!(await isFile(source))) return
  await mkdirp(dirname(join(root, path)), { mode: 0o700 })
  await copyFile(source, join(root, path), constants.COPYFILE_EXCL).catch(ignoring('EEXIST', 'ENOENT', 'ENOTDIR'))
}

/** Also to what is not there yet: an agent that writes it then writes it where it is kept. */
async function linkUnlessThere(root: string, path: string, target: string): Promise<void> {
  await mkdirp(dirname(join(root, path)), { mode: 0o700 })
  await symlink(target, join(root, path)).catch(ignoring('EEXIST'))
}

const withoutSlash = (path: string): string => path.replace(/(?<!\/)\/+$/, '')

/** The tree wins over what is kept; folders that hold both are made of links to either. */
async function linkKept(run: Run, folder: string): Promise<void> {
  const { root, state } = run
  for (const entry of await readdir(join(state, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (isOurs(run, path) || !(isKept(run, path) || holdsKept(run, path))) continue
    if (entry.isDirectory() && (await isFolder(join(root, path)))) await linkKept(run, path)
    else await linkUnlessThere(root, path, join(state, path))
  }
}

/** Runs that were killed. What they left is taken back first, so that the next session has it. */
export async function sweepRuns(folder: string): Promise<void> {
  const { runs } = inFolder(folder)
  for (const name of await namesIn(runs)) {
    if (!/^[0-9a-f-]{36}\.json$/.test(name)) continue
    const note = parseNote(await readIfThere(join(runs, name)))
    if (note !== null && !note.pids.some(isOther)) await takeBack(folder, name.slice(0, -NOTE.length), note)
  }
}

/** Runs of which a process is still there, each with the file that says so. */
export async function liveRuns(folder: string): Promise<readonly { readonly pid: number; readonly note: string }[]> {
  const { runs } = inFolder(folder)
  const notes = (await namesIn(runs)).filter((name) => name.endsWith(NOTE)).map((name) => join(runs, name))
  const pids = await Promise.all(notes.map(async (note) => parseNote(await readIfThere(note))?.pids.find(isOther)))
  return notes.flatMap((note, index) => {
    const pid = pids[index]
    return pid === undefined ? [] : [{ pid, note }]
  })
}

/** A run with the number of this very process was another process's, before the machine started anew. */
const isOther = (pid: number): boolean => pid !== process.pid && isAlive(pid)

function parseNote(text: string | null): Note | null {
  try {
    const note: (Omit<Note, 'kept' | 'fields'> & Partial<Note>) | null = JSON.parse(text ?? 'null')
    if (note === null || !Array.isArray(note.pids) || !Array.isArray(note.ours)) return null
    // An earlier version did not write down what is kept.
    return { ...note, kept: note.kept ?? [], fields: note.fields ?? {} }
  } catch {
    return null
  }
}

/** It may happen twice at once: each thing is moved by the first process. The note goes last. */
async function takeBack(folder: string, session: string, { ours, kept, fields }: Omit<Note, 'pids'>): Promise<void> {
  const { runs, state } = inFolder(folder)
  const root = join(runs, session)
  await keepNew({ root, state, ours: new Set(ours), kept }, '')
  await takeFields(fields, root, state)
  await rm(root, { recursive: true, force: true })
  await rm(`${root}${NOTE}`, { force: true })
}

interface Run {
  readonly root: string
  readonly state: string
  readonly ours: ReadonlySet<string>
  readonly kept: readonly string[]
}

/** Links are left out: they are the tree's, or lead to what is kept already. */
async function keepNew(run: Run, folder: string): Promise<void> {
  for (const name of await namesIn(join(run.root, folder))) {
    const path = join(folder, name)
    const found = await lstat(join(run.root, path)).catch(ifAbsent)
    if (found === null || isOurs(run, path)) continue
    if (found.isDirectory() && (holdsKept(run, path) || holdsOurs(run, path) || (await isFolder(join(run.state, path)))))
      await keepNew(run, path)
    else if (isKept(run, path) && (found.isDirectory() || found.isFile())) await move(run, path, found.mtimeMs)
  }
}

const isOurs = ({ ours }: Run, path: string): boolean => ours.has(path) || ours.has(`${path}/`)

/** Whether the agent keeps it: a path that is named, or one below a folder that is. */
const isKept = ({ kept }: Run, path: string): boolean =>
  kept.some((each) => path === withoutSlash(each) || (each.endsWith('/') && path.startsWith(each)))

const holdsKept = ({ kept }: Run, path: string): boolean => kept.some((each) => each.startsWith(`${path}/`) && each !== `${path}/`)

const holdsOurs = ({ ours }: Run, path: string): boolean => [...ours].some((each) => each.startsWith(`${path}/`))

/** Of two sessions that both wrote a file, the later writer's is kept. A file in a folder's place, or the other way round, is not. */
async function move({ root, state }: Run, path: string, writtenMs: number): Promise<void> {
  const kept = await lstat(join(state, path)).catch(ifAbsent)
  if (kept !== null && kept.mtimeMs > writtenMs) return
  await mkdirp(dirname(join(state, path)), { mode: 0o700 })
  await rename(join(root, path), join(state, path)).catch(ignoring('ENOENT', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'))
}

/** Also where a link leads to one. A pipe in its place would be read for ever. */
const isFile = async (path: string): Promise<boolean> => (await stat(path).catch(() => null))?.isFile() === true

const isFolder = async (path: string): Promise<boolean> => (await lstat(path).catch(ifAbsent))?.isDirectory() === true

const namesIn = async (folder: string): Promise<readonly string[]> => (await readdir(folder).catch(ifAbsent)) ?? []

/** The tree's files that are not as they were installed. Those that the binding names are bound, and so never are. */
export async function changedFiles({ files, binding, destination }: InstallRecord): Promise<readonly string[]> {
  const paths = Object.keys(files).filter((path) => !Object.hasOwn(binding, path))
  const digests = await Promise.all(paths.map((path) => digestOf(join(destination, path))))
  return paths.filter((path, index) => files[path] !== digests[index])
}

/** Null for what cannot be read, for whatever reason. */
async function digestOf(path: string): Promise<string | null> {
  const bytes = (await isFile(path)) ? await readFile(path).catch(() => null) : null
  return bytes === null ? null : createHash('sha256').update(bytes).digest('hex')
}

/** Values with the folder in the place of `{root}`. */
export const rooted = (values: Readonly<Record<string, string>>, root: string): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.replaceAll('{root}', () => root)]))
