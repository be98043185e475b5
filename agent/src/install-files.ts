/** Everything an install writes below the harness's folder and beside its record, first as a list, then to the disk. */
import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPaths, writeTree, type TreeChange, type TreeFiles } from '@svc-ai/client/shared'
import { bound } from './binding.ts'
import { ifAbsent, Stop } from './failure.ts'
import { ignoreSecrets, requireIgnorable } from './ignore-file.ts'
import type { Installation } from './installation.ts'
import { launcherText } from './launcher.ts'
import { commandOf, inFolder } from './places.ts'
import { recordFile, recordIfThere, type InstallRecord } from './record.ts'
import { readReleaseFile, releaseFile } from './release-file.ts'
import { keptToken } from './token.ts'
import { EXECUTABLE, isWritten, PRIVATE, readIfThere, removeUnfinished, SHARED, writeWhole, type WholeFile } from './whole-file.ts'
import { mkdirp } from '@svc-ai/client/folders'

/** A mode that everything is within. */
const ANY = 0o777

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
  const before = await readReleaseFile(destination)
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
  const releaseText = releaseFile(destination, release).text
  return { destination, folder, tree, token, record: await sameOrNew(folder, record, token), release: releaseText, beside }
}

/** The release file lists what an install has written, also one that was killed. */
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
 * and completes it: the release file comes last, and until then the one before lists what may be there.
 */
export async function writePlan({ destination, folder, record, tree, release, beside, token }: Plan): Promise<boolean> {
  const places = inFolder(folder)
  const files = [recordFile(folder, record), ...beside]
  await removeUnfinished(folder, [...files.map(({ path }) => path), places.trust, places.token, places.tokenName])
  await Promise.all([places.state, places.runs].map((each) => mkdirp(each, { mode: 0o700 })))
  const isOtherToken = (await keptToken(folder)) !== token
  // A token never stands beside the record of another service than it was given for, not for a moment.
  if (isOtherToken) await rm(places.token, { force: true })
  const stale = await staleOf(files)
  for (const file of stale) await writeWhole(file)
  if (token !== null) await ignoreSecrets(destination, record)
  const { written, removed } = writePrivately(destination, tree, release)
  await verify(destination, tree)
  return isOtherToken || stale.length + written.length + removed.length > 0
}

async function staleOf(files: readonly WholeFile[]): Promise<readonly WholeFile[]> {
  const written = await Promise.all(files.map(isWritten))
  return files.filter((_, index) => written[index] === false)
}

/** The tree holds the token, so no other user may read it at any moment. */
function writePrivately(destination: string, tree: TreeFiles, release: string): TreeChange {
  const before = process.umask(0o077)
  try {
    return writeTree(destination, tree, release)
  } finally {
    process.umask(before)
  }
}

async function verify(destination: string, tree: TreeFiles): Promise<void> {
  for (const [path, text] of Object.entries(tree)) {
    if (await isWritten({ path: join(destination, path), text, mode: ANY })) continue
    throw new Stop(`${join(destination, path)} is not what was just written: is something else writing there? Run the same command again`)
  }
}
