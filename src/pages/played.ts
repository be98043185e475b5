/** What the agent answered on both sides of each task, from the files of the steps that played them. */
import { isRecord, playedEpisode, taskScoresOf, type EpisodePlace, type PlayedEpisode, type UnknownRecord } from '../presentation/index.ts'
import type { PlayedSides } from './view.ts'

/** More would make the page slow to make and long to read. */
const TASKS_PLAYED_MAX = 20

/** `read` answers a file of a step's record; null where it is not kept. */
export async function playedSides(
  metrics: UnknownRecord,
  read: (record: string, path: string) => Promise<string | null>,
): Promise<ReadonlyMap<string, PlayedSides>> {
  const kept = taskScoresOf(metrics).filter(({ episodes }) => episodes.before !== null || episodes.after !== null)
  const sides = kept.slice(0, TASKS_PLAYED_MAX).map(async ({ task, episodes }) => {
    const [before, after] = await Promise.all([sideIn(episodes.before, read), sideIn(episodes.after, read)])
    return [task, { before, after }] as const
  })
  return new Map((await Promise.all(sides)).filter(([, { before, after }]) => before !== null || after !== null))
}

/** A page is shown without what cannot be read. */
async function sideIn(
  place: EpisodePlace | null,
  read: (record: string, path: string) => Promise<string | null>,
): Promise<PlayedEpisode | null> {
  if (place === null) return null
  try {
    const file: unknown = JSON.parse((await read(place.record, `${place.folder}/episode.json`)) ?? 'null')
    return isRecord(file) ? playedEpisode(file) : null
  } catch {
    return null
  }
}
