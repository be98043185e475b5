/** The steps of every episode: make the folder, run the command, clean up its files, read the trajectory, inspect, remove the folder. */
import { isRefusal, unavailable, type Episode, type Files, type ModelAddress, type Play } from '../../../src/contract/index.ts'
import { codeOf, orAborted } from '../../../src/kit/index.ts'
import type { CommandEnd } from './supervise.ts'
import { makePlain } from './disk.ts'
import { fillFolder, makeFolder, removeFolder, type Folder } from './folder.ts'
import type { EpisodeLimits } from './limits.ts'

export interface EpisodeEnvironment {
  /** How this episode reaches the model. */
  readonly model: ModelAddress
  readonly limits: EpisodeLimits
  /** Resolves when all processes of the command ended. */
  readonly run: (folder: Folder, files: Files) => Promise<CommandEnd>
}

export async function playEpisode(play: Play, signal: AbortSignal, { model, limits, run }: EpisodeEnvironment): Promise<Episode> {
  signal.throwIfAborted()
  const files = play.files(model)
  const folder = await written(makeFolder())
  try {
    await written(fillFolder(folder, files, play.workspace))
    const ended = await run(folder, files)
    const past = makePlain(folder, limits)
    const trajectory = await orAborted(play.readTrajectory(folder.root), signal)
    const episode = { ...(past !== null && { ended: past }), ...ended, trajectory }
    if (play.inspect !== undefined) await orAborted(play.inspect(folder.workspace, episode), signal)
    return episode
  } finally {
    await removeFolder(folder.path)
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
