/** Measures an episode's disk use while it runs, and makes its files safe to read afterwards. */
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { EpisodeEnd } from '../../../src/contract/index.ts'
import type { Folder } from './folder.ts'
import type { EpisodeLimits } from './limits.ts'
import { diskShortage, type Why } from './room.ts'
import { walk, type WalkedFile } from './walk.ts'

const BLOCK_BYTES = 512
const OWNER_FOLDER = 0o700
const OWNER_FILE = 0o600

/** The exceeded limit, what the machine is short of, or null. `unnamedBytes` are in deleted files that are still open. */
export function measureDisk({ path }: Folder, limits: EpisodeLimits, unnamedBytes: number): Why | null {
  const add = tally(limits, unnamedBytes)
  let bytes = unnamedBytes
  for (const found of walk(path)) {
    const past = add(found)
    if (past !== null) return past
    bytes += found.stats.blocks * BLOCK_BYTES
  }
  return diskShortage(path, bytes)
}

/**
 * Removes everything but plain files and folders and makes those readable, so that a reader follows no link, blocks on no pipe, and ends.
 * Returns the exceeded limit, or null. Call it only after all processes ended.
 */
export function makePlain({ path, root, workspace }: Folder, limits: EpisodeLimits): EpisodeEnd | null {
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
    // Moved out of the readers' way; removed with the folder.
    if (found.isTooDeep) renameSync(found.path, join(aside, `${(moved += 1)}`))
  }
  // The agent may have removed or replaced its workspace.
  if (statSync(workspace, { throwIfNoEntry: false })?.isDirectory() !== true) {
    rmSync(workspace, { force: true })
    mkdirSync(workspace)
  }
  return past
}

function tally(limits: EpisodeLimits, bytesBefore: number): (found: WalkedFile) => EpisodeEnd | null {
  let bytes = bytesBefore
  let files = 0
  return ({ stats, isTooDeep }) => {
    files += 1
    // Counts blocks, since a file may be sparse.
    bytes += stats.blocks * BLOCK_BYTES
    if (files > limits.files || isTooDeep) return 'files'
    return bytes > limits.diskBytes ? 'disk' : null
  }
}

/** Drops setuid and setgid bits too. */
function open({ path, stats }: WalkedFile): void {
  const mode = (stats.mode & 0o777) | (stats.isDirectory() ? OWNER_FOLDER : OWNER_FILE)
  if (mode !== (stats.mode & 0o7777)) chmodSync(path, mode)
}
