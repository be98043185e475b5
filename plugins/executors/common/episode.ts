/** The steps of every episode: make the folder, run the command, clean up its files, read the trajectory, inspect, remove the folder. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRefusal, unavailable, type Episode, type Files, type ModelAddress, type Play } from '../../../src/contract/index.ts'
import { codeOf, hasCode, orAborted } from '../../../src/kit/index.ts'
import type { CommandEnd } from './supervise.ts'
import { findInstalled, makeLinks } from './dependencies.ts'
import { makePlain } from './disk.ts'
import { fillFolder, makeFolder, removeFolder, type Folder } from './folder.ts'
import type { EpisodeLimits } from './limits.ts'
import { diskShortage, endedForMemory, noRoom, type Shortage } from './room.ts'

export interface EpisodeEnvironment {
  /** How this episode reaches the model. */
  readonly model: ModelAddress
  readonly limits: EpisodeLimits
  /** Resolves when all processes of the command ended. */
  readonly run: (folder: Folder, files: Files, needs: readonly string[]) => Promise<CommandEnd>
}

export async function playEpisode(play: Play, signal: AbortSignal, { model, limits, run }: EpisodeEnvironment): Promise<Episode> {
  signal.throwIfAborted()
  const files = play.files(model)
  const installed = await findInstalled(play.dependencies ?? {})
  const folder = await written(makeFolder())
  try {
    await written(fillFolder(folder, files, play.workspace))
    await written(makeLinks(folder.workspace, installed.links))
    const oomBefore = endedForMemory()
    const ended = await run(folder, files, [...play.needs, ...installed.needs])
    checkRoom(folder, ended, oomBefore)
    const past = plain(() => makePlain(folder, limits))
    const trajectory = await orAborted(play.readTrajectory(folder.root), signal)
    const episode = { ...(past !== null && { ended: past }), ...ended, trajectory }
    if (play.inspect !== undefined) await orAborted(play.inspect(folder.workspace, episode), signal)
    return episode
  } finally {
    await removeFolder(folder.path)
  }
}

/** A signal that was not ours. */
const KILLED = 137

/** Throws where the machine ran out of something meanwhile: an agent whose writes failed may still have ended by itself. */
function checkRoom(folder: Folder, { ended, exitCode }: CommandEnd, oomBefore: number | null): void {
  if (ended !== undefined) return
  const short = roomProblem(folder)
  if (short !== null) throw noRoom(short)
  if (exitCode === KILLED && oomBefore !== null && (endedForMemory() ?? 0) > oomBefore) throw noRoom({ short: 'memory' })
}

function roomProblem({ path }: Folder): Shortage | null {
  const short = measuredShortage(path)
  if (short !== null) return short
  try {
    // A quota shows only in a write.
    writeFileSync(join(path, 'room'), Buffer.alloc(ROOM_BYTES))
    rmSync(join(path, 'room'))
    return null
  } catch (error) {
    return hasCode(error, 'ENOSPC', 'EDQUOT') ? { short: 'space on the disk of the temporary folder' } : null
  }
}

const ROOM_BYTES = 64 * 1024

/** What is the episode's own doing was found while it ran. */
function measuredShortage(path: string): Shortage | null {
  const why = diskShortage(path, 0)
  return typeof why === 'object' ? why : null
}

/** A full disk is the machine's, also while files are made readable. */
function plain<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (hasCode(error, 'ENOSPC', 'EDQUOT')) throw noRoom({ short: 'space on the disk of the temporary folder' })
    throw error
  }
}

/** A disk error is the machine's, not the episode's; its text may hold paths. */
export async function written<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isRefusal(error)) throw error
    const code = codeOf(error) ?? 'unknown'
    throw unavailable('episode_folder', `the folder of an episode cannot be written (${code}); check the disk of the temporary folder`)
  }
}
