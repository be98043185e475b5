/** Everything an install writes below the harness's folder and beside its record, first as a list, then to the disk. */
import { lstat, mkdir, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { checkPaths, isTreePath, writeTree, type TreeFiles } from '../tree-files.ts'
import { parseJson } from '../wire.ts'
import { bound } from './binding.ts'
import { hasCode, Stop } from './failure.ts'
import type { Installation } from './installation.ts'
import { launcherText } from './launcher.ts'
import { commandOf, inFolder, RELEASE_FILE } from './places.ts'
import { recordFile, recordIfThere, writeRecord, type InstallRecord } from './record.ts'
import { readReleaseFile, releaseFile } from './release-file.ts'
import { keptToken } from './token.ts'
import { EXECUTABLE, isWritten, PRIVATE, readIfThere, removeUnfinished, SHARED, writeWhole, type WholeFile } from './whole-file.ts'

/** A mode that everything is within. */
const ANY = 0o777

export interface Plan {
  readonly destination: string
  readonly folder: string
  readonly record: InstallRecord
  /** The tree with the bound files in place of its own. */
  readonly tree: TreeFiles
  /** What goes into the install folder, in the order it is written. */
  readonly beside: readonly WholeFile[]
  readonly token: string | null
  /** Text of the release file. */
  readonly release: string
  /** Paths below the destination that earlier installs wrote, finished or not. */
  readonly owned: readonly string[]
}

export interface PlanOrder {
  readonly installation: Installation
  readonly record: InstallRecord
  readonly folder: string
  readonly program: string
  readonly node: string
  readonly token: string | null
}

/** Refuses what could not be written, or would overwrite somebody's own file, before anything is. */
export async function planOf({ installation, record, folder, program, node, token }: PlanOrder): Promise<Plan> {
  const { destination, adapter, release_id, content_id, requires } = record
  const tree = { ...installation.files, ...bound(installation, { url: installation.url, token }) }
  checkPaths(tree)
  const before = await readReleaseFile(destination)
  const owned = [...(before?.files ?? []), ...(await pendingPaths(folder))].filter(isTreePath)
  await refuseForeign(destination, tree, owned)
  const places = inFolder(folder)
  return {
    destination,
    folder,
    tree,
    token,
    owned,
    record: await sameOrNew(folder, record, token),
    release: releaseFile(destination, { release_id, content_id, files: Object.keys(tree).sort(), requires, setup: before?.setup ?? [] })
      .text,
    beside: [
      { path: places.wrapper, text: program, mode: SHARED },
      { path: join(folder, commandOf(adapter)), text: launcherText(folder, node), mode: EXECUTABLE },
      ...(token === null ? [] : [{ path: places.token, text: `${token}\n`, mode: PRIVATE }]),
    ],
  }
}

/** An install that was killed before it could say which release is here. */
async function pendingPaths(folder: string): Promise<readonly string[]> {
  const paths = parseJson((await readIfThere(inFolder(folder).pending)) ?? '')
  return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : []
}

async function refuseForeign(destination: string, tree: TreeFiles, owned: readonly string[]): Promise<void> {
  const known = new Set(owned)
  for (const [path, text] of Object.entries(tree)) {
    const place = join(destination, path)
    if (known.has(path) || (await isAbsentOrFolder(place))) continue
    if ((await readIfThere(place)) === text) continue
    throw new Stop(`${place} is no file of a harness and would be overwritten; move it away, or name another folder as the first argument`)
  }
}

/** A folder in the way is refused when the tree is written: one that is the old tree's leaves before. */
async function isAbsentOrFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return true
    throw error
  }
}

/** Placeholders are new in every script. A record that differs in them alone says the same and stays. */
async function sameOrNew(folder: string, record: InstallRecord, token: string | null): Promise<InstallRecord> {
  const before = await recordIfThere(folder)
  const meaning = (each: InstallRecord): string =>
    JSON.stringify({ ...each, placeholders: null, binding: bound(each, { url: each.url, token }) })
  return before !== null && meaning(before) === meaning(record) ? before : record
}

/** Whether all of it is on the disk already. */
export async function isCurrent({ destination, folder, record, tree, release, beside, token }: Plan): Promise<boolean> {
  const { pending, token: tokenFile } = inFolder(folder)
  if ((await readIfThere(pending)) !== null) return false
  if (token === null && (await readIfThere(tokenFile)) !== null) return false
  const ours = Object.entries({ ...tree, [RELEASE_FILE]: release }).map(([path, text]) => ({
    path: join(destination, path),
    text,
    mode: ANY,
  }))
  return (await Promise.all([...ours, ...beside, recordFile(folder, record)].map(isWritten))).every(Boolean)
}

/** Killed anywhere in here, the next install finds what was begun and completes it: the release file comes last. */
export async function writePlan(plan: Plan): Promise<void> {
  const { destination, folder, record, tree, release, beside, token, owned } = plan
  const places = inFolder(folder)
  const paths = [...new Set([...owned, ...Object.keys(tree)])]
  await removeUnfinished(folder, [places.pending, places.record, places.token, ...beside.map(({ path }) => path)])
  await writeWhole({ path: places.pending, text: JSON.stringify(paths), mode: PRIVATE })
  await Promise.all([places.state, places.runs].map((each) => mkdir(each, { recursive: true, mode: 0o700 })))
  // A token never stands beside the record of another service than it was given for, not for a moment.
  if ((await keptToken(folder)) !== token) await rm(places.token, { force: true })
  await writeRecord(folder, record)
  for (const file of beside) if (!(await isWritten(file))) await writeWhole(file)
  writePrivately(destination, tree, release)
  await Promise.all(paths.filter((path) => !Object.hasOwn(tree, path)).map((path) => removeLeft(destination, path)))
  await verify(destination, tree)
  await rm(places.pending, { force: true })
}

/** The tree holds the token, so nobody else may read it, not for a moment. */
function writePrivately(destination: string, tree: TreeFiles, release: string): void {
  const before = process.umask(0o077)
  try {
    writeTree(destination, tree, release)
  } finally {
    process.umask(before)
  }
}

/** What the release file listed went with the tree before; this is what an install that was killed wrote since. No link is followed. */
async function removeLeft(destination: string, path: string): Promise<void> {
  const place = join(destination, path)
  try {
    const isBelow = (await realpath(dirname(place))) === join(destination, dirname(path))
    if (isBelow && (await lstat(place)).isFile()) await rm(place)
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error
  }
}

async function verify(destination: string, tree: TreeFiles): Promise<void> {
  for (const [path, text] of Object.entries(tree)) {
    if (await isWritten({ path: join(destination, path), text, mode: ANY })) continue
    throw new Stop(`${join(destination, path)} is not what was just written: is something else writing there? Run the same command again`)
  }
}
