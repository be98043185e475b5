/** Plans a promote or rollback from the rows: nothing to do, or publish a kept release again. */
import { conflict, unknown } from '../contract/index.ts'
import type { Release } from '../contract/index.ts'
import { isRestorable } from './catalog.ts'
import { isPublished, type ReleasedCommit, type ReleaseIndex } from './chain.ts'

export type PlannedMove =
  /** Already served: answer the head, append nothing. */
  | { readonly kind: 'stay'; readonly head: Release; readonly step: number }
  /** Seal this content on the head and append a row that names it as target. */
  | { readonly kind: 'republish'; readonly target: Release }

export async function planMove(releases: ReleaseIndex, releaseId: string, operation: 'promote' | 'rollback'): Promise<PlannedMove> {
  const target = (await releases.find(releaseId))?.row
  if (target === undefined) {
    throw unknown('unknown_release', `release ${releaseId} is not one of this scenario; GET its releases for those that are`)
  }
  const { row: head } = releases.head
  // Also when the head is a republished copy of that release: a retry after a lost answer must not move twice.
  if (head.release.release_id === releaseId || head.rollback_target_release_id === releaseId) {
    return { kind: 'stay', head: head.release, step: head.step }
  }
  if (operation === 'promote') await requireHeld(releases, target)
  else requireRestorable(target)
  return { kind: 'republish', target: target.release }
}

async function requireHeld(releases: ReleaseIndex, { pending, release: { release_id: id } }: ReleasedCommit): Promise<void> {
  if (!pending) throw conflict('not_held', `release ${id} is not held for review; use rollback to serve a published release again`)
  const promoted = await releases.promotion(id)
  if (promoted === null) return
  const made = promoted.release.release_id
  throw conflict('not_held', `release ${id} was promoted at step ${promoted.step}; roll back to release ${made} to serve it again`)
}

function requireRestorable(target: ReleasedCommit): void {
  const { release_id: id } = target.release
  if (isRestorable(id) && isPublished(target)) return
  throw conflict(
    'not_restorable',
    `release ${id} cannot be restored: it was never published (promote it when it is held), or it lived only in an engine`,
  )
}
