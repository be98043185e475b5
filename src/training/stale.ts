/** Whether a result may still land: the head may have moved since its base. */
import type { Commit, Release } from '../contract/index.ts'

/**
 * in place  the base is still the head.
 * beside    only other components published since: the trainer's policy decides.
 * moved     a promote or rollback happened: the result is obsolete.
 */
export type Standing = 'in place' | 'beside' | 'moved'

export function standingOf(released: readonly Commit[], base: Release, component: string): Standing {
  let standing: Standing = 'in place'
  // From the newest row back to the base, so the cost does not depend on the length of the history.
  for (let at = released.length - 1; at >= 0; at -= 1) {
    const row = released[at]
    if (row?.outcome !== 'published' || row.release === null) continue
    if (row.release.release_id === base.release_id) break
    if (row.operation !== 'train' || (row.component ?? '') === component) return 'moved'
    standing = 'beside'
  }
  return standing
}
