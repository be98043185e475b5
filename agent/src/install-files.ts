/** Everything an install writes below the harness's folder and beside its record, first as a list, then to the disk. */
import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPaths, keepRelease, keptRelease, RELEASE_FILE, writeTree, type TreeChange, type TreeFiles } from '@svc-ai/client/shared'
import { bound } from './binding.ts'
import { ifAbsent, Stop } from './failure.ts'
import { ignoreSecrets, requireIgnorable } from './ignore-file.ts'
import type { Installation } from './installation.ts'
import { launcherText } from './launcher.ts'
import { commandOf, homeOf, inFolder } from './places.ts'
import { recordFile, recordIfThere, type InstallRecord } from './record.ts'
import { readReleaseFile, releaseText, type ReleaseFile } from './release-file.ts'
import { keptToken } from './token.ts'
import { EXECUTABLE, isWritten, PRIVATE, removeUnfinished, SHARED, writeWhole, type WholeFile } from './whole-file.ts'
import { mkdirp } from '@svc-ai/client/folders'

/** A mode that everything is within. */
const ANY = 0o777
/** Until a first release is there whole. */
const NOTHING: ReleaseFile = { release_id: '', content_id: '', files: [], requires: [], setup: [] }

type Plan = Awaited<ReturnType<typeof planOf>>

export interface PlanOrder {
  readonly installation: Installation
  readonly record: InstallRecord
  readonly folder: string
  readonly program: string
  readonly node: string
  readonly token: string | null
  readonly env: NodeJS.ProcessEnv
}

/** Refuses what could not be written, or would overwrite somebody's own file, before anything is. */
export async function planOf({ installation, record, folder, program, node, token, env }: PlanOrder) {
  const { destination, adapter, release_id, content_id, requires } = record
  const tree: TreeFiles = { ...installation.files, ...bound(installation, { url: installation.url, token }) }
  checkPaths(tree)
  const home = homeOf(env)
  await refuseInTheWay(join(destination, RELEASE_FILE))
  const before = await readReleaseFile(destination, home)
  await refuseForeign(destination, tree, before?.files ?? [])
  if (token !== null) await requireIgnorable(destination, installation, env)
  const places = inFolder(folder)
  const release = { release_id, content_id, files: Object.keys(tree).sort(), requires, setup: before?.setup ?? [] }
  /** What goes into the install folder, in the order it is written. */
  const beside: readonly WholeFile[] = [
    { path: places.wrapper, text: program, mode: SHARED },
    { path: join(folder, commandOf(adapter)), text: launcherText(folder, node, adapter), mode: EXECUTABLE },
    ...(token === null ? [] : [{ path: places.token, text: `${token}\n`, mode: PRIVATE }]),
  ]
  return {
    destination,
    folder,
    home,
    tree,
    token,
    record: await sameOrNew(folder, record, token),
    before,
    release: releaseText(release),
    beside,
  }
}

/** Anything else of that name came with the folder, and is neither read nor replaced. */
async function refuseInTheWay(path: string): Promise<void> {
  const found = await lstat(path).catch(ifAbsent)
  if (found !== null && !found.isFile()) throw new Stop(`${path} is no plain file; move it away and run the same command again`)
}

/** The kept tree of the folder lists what an install has written, also one that was killed. */
async function refuseForeign(destination: string, tree: TreeFiles, owned: readonly string[]): Promise<void> {
  const known = new Set(owned)
  for (const [path, text] of Object.entries(tree)) {
    const place = join(destination, path)
    if (known.has(path) || (await isAbsentOrFolder(place))) continue
    if (await isWritten({ path: place, text, mode: ANY })) continue
    throw new Stop(`${place} is no file of a harness and would be overwritten; move it away, or name another folder as the first argument`)
  }
}

/** A folder in the way is refused when the tree is written: one that is the old tree's leaves before. */
const isAbsentOrFolder = async (path: string): Promise<boolean> => (await lstat(path).catch(ifAbsent))?.isDirectory() ?? true

/** Placeholders are new in every script. A record that differs in them alone says the same and stays. */
async function sameOrNew(folder: string, record: InstallRecord, token: string | null): Promise<InstallRecord> {
  const before = await recordIfThere(folder)
  const meaning = (each: InstallRecord): string =>
    JSON.stringify({ ...each, placeholders: null, binding: bound(each, { url: each.url, token }) })
  return before !== null && meaning(before) === meaning(record) ? before : record
}

/**
 * Whether anything had to be written: what is as it should be is not touched. Killed anywhere in here, the next install finds what was begun
 * and completes it: the release file comes last, and until then what is kept of the folder lists what may be there.
 */
export async function writePlan(plan: Plan): Promise<boolean> {
  const { destination, folder, home, record, before, beside, token, tree } = plan
  const places = inFolder(folder)
  // Before the record: beside one alone, as an earlier version left it, the folder's own word counts for what was checked off.
  if (keptRelease(home, destination) === null) keepRelease(home, destination, releaseText(before ?? NOTHING))
  const files = [recordFile(folder, record), ...beside]
  await removeUnfinished(folder, [...files.map(({ path }) => path), places.trust, places.token, places.tokenName])
  await Promise.all([places.state, places.runs].map((each) => mkdirp(each, { mode: 0o700 })))
  const isOtherToken = (await keptToken(folder)) !== token
  // A token never stands beside the record of another service than it was given for, not for a moment.
  if (isOtherToken) await rm(places.token, { force: true })
  const stale = await staleOf(files)
  for (const file of stale) await writeWhole(file)
  if (token !== null) await ignoreSecrets(destination, record)
  const { written, removed } = writePrivately(plan)
  await verify(destination, tree)
  return isOtherToken || stale.length + written.length + removed.length > 0
}

async function staleOf(files: readonly WholeFile[]): Promise<readonly WholeFile[]> {
  const written = await Promise.all(files.map(isWritten))
  return files.filter((_, index) => written[index] === false)
}

/** The tree holds the token, so no other user may read it at any moment. */
function writePrivately({ destination, tree, release, home }: Plan): TreeChange {
  const mask = process.umask(0o077)
  try {
    return writeTree(destination, tree, release, home)
  } finally {
    process.umask(mask)
  }
}

async function verify(destination: string, tree: TreeFiles): Promise<void> {
  for (const [path, text] of Object.entries(tree)) {
    if (await isWritten({ path: join(destination, path), text, mode: ANY })) continue
    throw new Stop(`${join(destination, path)} is not what was just written: is something else writing there? Run the same command again`)
  }
}
