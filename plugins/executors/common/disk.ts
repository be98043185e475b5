/** What an episode takes of the disk: measured while it runs, and made plain for whoever reads it once nothing of it runs any more. */
import { chmodSync, mkdirSync, renameSync, rmSync, statfsSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { EpisodeEnd } from '../../../src/contract/index.ts'
import type { Folder } from './folder.ts'
import type { Limits } from './limits.ts'
import { walk, type Found } from './walk.ts'

const BLOCK_BYTES = 512
/** What stays free for the service itself, whoever filled the rest: so much, or one part in twenty of a small disk. */
const FREE_BYTES_MIN = 256 * 1024 * 1024
const FREE_PART_MIN = 1 / 20
const OWNER_FOLDER = 0o700
const OWNER_FILE = 0o600

/** The limit that a running episode is past, or null. `unnamedBytes` are in files that were removed and are still open. */
export function measureDisk({ path }: Folder, limits: Limits, unnamedBytes: number): EpisodeEnd | null {
  const { bavail, blocks, bsize } = statfsSync(path)
  if (bavail * bsize < Math.min(FREE_BYTES_MIN, blocks * bsize * FREE_PART_MIN)) return 'disk'
  const add = tally(limits, unnamedBytes)
  for (const found of walk(path)) {
    const past = add(found)
    if (past !== null) return past
  }
  return null
}

/**
 * Leaves plain files and folders alone, all of which can be opened: a reader follows no link out of the folder, waits for no pipe, and comes
 * to an end. Answers the limit that the episode was past. To be called when nothing runs any more that could put them back.
 */
export function makePlain({ path, root, workspace }: Folder, limits: Limits): EpisodeEnd | null {
  const add = tally(limits, 0)
  chmodSync(root, OWNER_FOLDER)
  const aside = join(path, 'aside')
  mkdirSync(aside)
  let past: EpisodeEnd | null = null
  let moved = 0
  for (const found of walk(root)) {
    past ??= add(found)
    if (!found.stats.isFile() && !found.stats.isDirectory()) unlinkSync(found.path)
    else open(found)
    // Beside the root it is out of every reader's way, and goes with the rest.
    if (found.isTooDeep) renameSync(found.path, join(aside, `${(moved += 1)}`))
  }
  // The agent may have removed its workspace, or put something else in its place.
  if (statSync(workspace, { throwIfNoEntry: false })?.isDirectory() !== true) {
    rmSync(workspace, { force: true })
    mkdirSync(workspace)
  }
  return past
}

function tally(limits: Limits, bytesBefore: number): (found: Found) => EpisodeEnd | null {
  let bytes = bytesBefore
  let files = 0
  return ({ stats, isTooDeep }) => {
    files += 1
    // What it takes, not what it says it is: a file may be mostly holes.
    bytes += stats.blocks * BLOCK_BYTES
    if (files > limits.files || isTooDeep) return 'files'
    return bytes > limits.diskBytes ? 'disk' : null
  }
}

/** Owned by whoever runs the service, a file that runs as its owner would be worth having. */
function open({ path, stats }: Found): void {
  const mode = (stats.mode & 0o777) | (stats.isDirectory() ? OWNER_FOLDER : OWNER_FILE)
  if (mode !== (stats.mode & 0o7777)) chmodSync(path, mode)
}
