/** Whether a result may still land: the head it was made on may have moved while it was made. */
import type { Commit, Release } from '../contract/index.ts'

/**
 * in place  the base is still the head.
 * beside    only other components published since: what happens is the trainer's policy.
 * moved     somebody promoted or rolled back: the result belongs to a past that was left.
 */
export type Standing = 'in place' | 'beside' | 'moved'

export function standingOf(commits: readonly Commit[], base: Release, component: string): Standing {
  const published = commits.filter(({ outcome, release }) => outcome === 'published' && release !== null)
  const at = published.findLastIndex(({ release }) => release?.release_id === base.release_id)
  const since = published.slice(at + 1)
  if (since.length === 0) return 'in place'
  return since.every((row) => row.operation === 'train' && (row.component ?? '') !== component) ? 'beside' : 'moved'
}
