/**
 * Folders of an earlier version, which had the name of another system: `~/.reef`, `reef-harness`. The first command that finds none of their
 * sessions running renames them. Killed on the way, the next command goes on; what an earlier version then writes goes through the links that
 * are left behind. Only what an install made is moved, and nothing is ever written over.
 */
import { existsSync, lstatSync } from 'node:fs'
import { readdir, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FORMER_RELEASE_FILE, RELEASE_FILE } from '@svc-ai/client/shared'
import { ignoring } from './failure.ts'
import { turnFormerCommand } from './install-link.ts'
import { launcherText } from './launcher.ts'
import { commandOf, formerFolders, inFolder, installFolder, isRealFolder, renamedHarness, stateFolders } from './places.ts'
import { isHeld, oneAtATime } from './process-lock.ts'
import { foldersIn, recordFile, recordIfThere, type InstallRecord } from './record.ts'
import { liveRuns } from './run-folder.ts'
import type { Terminal } from './terminal.ts'
import { EXECUTABLE, isWritten, SHARED, writeWhole } from './whole-file.ts'
import { mkdirp } from '@svc-ai/client/folders'

/** The files that sessions and reports keep, by the names that `captures.ts` gives them. */
const CAPTURE = /^[0-9a-f]{64}-\d{20}-[0-9a-f-]{36}\.(?:jsonl|reported|lock)$/

interface Move {
  readonly home: string
  readonly terminal: Terminal
  /** The wrapper that moved installs run from now on: an earlier one would look for the former names. */
  readonly program: string
  /** The Node that it runs on. */
  readonly node: string
}

/** An install that cannot move the folders stops here: beside them it would begin anew. */
export async function moveFormer(move: Move): Promise<void> {
  const { home, terminal } = move
  const former = formerFolders(home)
  if (![former.installs, former.captures].some(isRealFolder)) return
  const { folder } = stateFolders(home)
  await mkdirp(folder, { mode: 0o700 })
  await oneAtATime(join(folder, 'moving.lock'), terminal, () => moveUnlessUsed(move))
}

async function moveUnlessUsed(move: Move): Promise<void> {
  const { home, terminal } = move
  const [former, now] = [formerFolders(home), stateFolders(home)]
  const folders = await installFoldersIn(former.installs)
  if ((await Promise.all(folders.map(isUsed))).some(Boolean)) return
  for (const folder of [now.installs, now.captures]) await mkdirp(folder, { mode: 0o700 })
  await movePrograms(home)
  for (const folder of folders) await moveInstall(folder, move)
  for (const folder of await installFoldersIn(now.installs)) await completeInstall(folder, move)
  await leaveLink(former.installs, now.installs)
  await moveReceipts(home)
  if (folders.length > 0) terminal.warn(`renamed the folders of an earlier version: ${former.installs} is ${now.installs} now`)
}

/** Folders that an install made: they have a record, or the name of a scenario that is being made. */
async function installFoldersIn(folder: string): Promise<readonly string[]> {
  const folders = isRealFolder(folder) ? await foldersIn(folder) : []
  const records = await Promise.all(folders.map((each) => recordIfThere(each).catch(() => null)))
  return folders.filter((each, index) => records[index] !== null || existsSync(inFolder(each).start))
}

/** A session runs, a resident agent serves the folder, or an install is under way. */
async function isUsed(folder: string): Promise<boolean> {
  const destination = (await recordIfThere(folder))?.destination
  const locks = [inFolder(folder).lock, ...(destination === undefined ? [] : [join(destination, 'native', 'serve.lock')])]
  const held = await Promise.all(locks.map(isHeld))
  return held.some(Boolean) || (await liveRuns(folder)).length > 0
}

/** Programs of agents may know the path they were installed at, so a link stays there. */
async function movePrograms(home: string): Promise<void> {
  const [from, to] = [formerFolders(home).programs, stateFolders(home).programs]
  if (isRealFolder(from) && !existsSync(to)) await rename(from, to)
  if (!existsSync(from) && existsSync(to)) await symlink(to, from)
}

/** The record first: it names folders that are there, whether it has been moved itself or not. */
async function moveInstall(from: string, { home, terminal }: Move): Promise<void> {
  const record = await recordIfThere(from)
  const after = record === null ? null : await renamedRecord(record, home)
  const to = after === null ? join(stateFolders(home).installs, basename(from)) : installFolder(home, after.destination)
  if (existsSync(to)) return terminal.warn(`${from} stays as it is: ${to} is there already`)
  if (after !== null) await writeWhole(recordFile(from, after))
  // Sessions and people may know the path with the former id.
  const byFormerId = join(dirname(to), basename(from))
  if (byFormerId !== to && !isThere(byFormerId)) await symlink(basename(to), byFormerId)
  await rename(from, to)
  await symlink(to, from)
}

async function renamedRecord(record: InstallRecord, home: string): Promise<InstallRecord> {
  const [from, to] = [formerFolders(home).programs, stateFolders(home).programs]
  const inPlace = (path: string): string => (path.startsWith(`${from}/`) && existsSync(to) ? to + path.slice(from.length) : path)
  const destination = await moveHarness(record.destination)
  return { ...record, destination, prefix: inPlace(record.prefix), executable: inPlace(record.executable) }
}

/** A folder of the new name that no install made is a person's own: then the harness stays where it is. */
async function moveHarness(path: string): Promise<string> {
  const to = renamedHarness(path)
  if (to === null || !isRealFolder(path) || existsSync(to)) return to !== null && !existsSync(path) && existsSync(to) ? to : path
  await rename(path, to)
  await rename(join(to, FORMER_RELEASE_FILE), join(to, RELEASE_FILE)).catch(ignoring('ENOENT'))
  return to
}

async function completeInstall(folder: string, { home, program, node }: Move): Promise<void> {
  const record = await recordIfThere(folder)
  if (record === null) return
  const launcher = { path: join(folder, commandOf(record.adapter)), text: launcherText(folder, node, record.adapter), mode: EXECUTABLE }
  const isOther = existsSync(launcher.path) && !(await isWritten(launcher))
  if (isOther) await writeWhole({ path: inFolder(folder).wrapper, text: program, mode: SHARED })
  if (isOther) await writeWhole(launcher)
  await turnFormerCommand(record.adapter, folder, home)
}

/** The receipts of sessions. One that still writes goes on writing to its file under the new name. */
export async function moveReceipts(home: string): Promise<void> {
  const [from, to] = [formerFolders(home).captures, stateFolders(home).captures]
  if (!isRealFolder(from)) return
  await mkdirp(to, { mode: 0o700 })
  for (const name of await readdir(from))
    if (CAPTURE.test(name) && !existsSync(join(to, name))) await rename(join(from, name), join(to, name))
  await leaveLink(from, to)
}

/** In the place of a folder that holds nothing but links to what was moved. Anything else there stays, and the folder with it. */
async function leaveLink(from: string, to: string): Promise<void> {
  const entries = isRealFolder(from) ? await readdir(from, { withFileTypes: true }) : null
  if (entries === null || !entries.every((entry) => entry.isSymbolicLink())) return
  for (const { name } of entries) await rm(join(from, name))
  await rmdir(from)
  await symlink(to, from)
}

/** When an install goes: the links that led to it, and those that lead nowhere now. */
export async function removeFormerLinks(folder: string, home: string): Promise<void> {
  const [former, now] = [formerFolders(home), stateFolders(home)]
  const names = await readdir(now.installs).catch(() => [])
  for (const path of [...names.map((name) => join(now.installs, name)), former.installs, former.captures, former.programs]) {
    const target = await readlink(path).catch(() => null)
    if (target !== null && !existsSync(path) && [basename(folder), ...Object.values(now)].includes(target)) await rm(path)
  }
  await rmdir(former.folder).catch(() => undefined)
}

/** Also a link that leads nowhere. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
