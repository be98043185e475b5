/** Whether a result may still land: the head it was made on may have moved while it was made. */
import type { Commit, Release } from '../contract/index.ts'

/**
 * in place  the base is still the head.
 * beside    only other components published since: what happens is the trainer's policy.
 * moved     somebody promoted or rolled back: the result belongs to a past that was left.
 */
export type Standing = 'in place' | 'beside' | 'moved'

/** By the rows that made a release. */
export function standingOf(released: readonly Commit[], base: Release, component: string): Standing {
  let standing: Standing = 'in place'
  // From the newest back to the base: how many came before it makes no difference.
  for (let at = released.length - 1; at >= 0; at -= 1) {
    const row = released[at]
    if (row?.outcome !== 'published' || row.release === null) continue
    if (row.release.release_id === base.release_id) break
    if (row.operation !== 'train' || (row.component ?? '') === component) return 'moved'
    standing = 'beside'
  }
  return standing
}
