/** The order of every episode: a folder, the files, the command, plain remains, the trajectory, a look at the workspace, and no folder. */
import { isRefusal, unavailable, type Episode, type Files, type ModelAddress, type Play } from '../../../src/contract/index.ts'
import type { Ended } from './attend.ts'
import { makePlain } from './disk.ts'
import { fillFolder, makeFolder, removeFolder, type Folder } from './folder.ts'
import type { Limits } from './limits.ts'

export interface Stage {
  /** How this episode reaches the model. */
  readonly model: ModelAddress
  readonly limits: Limits
  /** Answers when nothing of the command runs any more. */
  readonly run: (folder: Folder, files: Files) => Promise<Ended>
}

export async function playEpisode(play: Play, signal: AbortSignal, { model, limits, run }: Stage): Promise<Episode> {
  signal.throwIfAborted()
  const files = play.files(model)
  const folder = await written(makeFolder())
  try {
    await written(fillFolder(folder, files, play.workspace))
    const ended = await run(folder, files)
    const past = makePlain(folder, limits)
    const trajectory = await unlessAborted(play.readTrajectory(folder.root), signal)
    const episode = { ...(past !== null && { ended: past }), ...ended, trajectory }
    if (play.inspect !== undefined) await unlessAborted(play.inspect(folder.workspace, episode), signal)
    return episode
  } finally {
    await removeFolder(folder.path)
  }
}

/** A disk that is full is the machine's trouble and no episode, and its words may name paths. */
export async function written<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isRefusal(error)) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw unavailable('episode_folder', `the folder of an episode cannot be written (${code}); look after the disk for temporary files`)
  }
}

/** Whoever looks at the remains may take as long as it likes, and no longer than anybody waits for it. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(signal.reason)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
