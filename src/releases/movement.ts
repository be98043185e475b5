/** Plans a promote, rollback or rejection from the rows: nothing to do, or what the row is about. */
import { conflict, provisionalGain, unknown, type Release } from '../contract/index.ts'
import { isRestorable } from './catalog.ts'
import { isPublished, type ReleasedCommit, type ReleaseIndex } from './chain.ts'

export type PlannedMove =
  /** Already served: answer the head, append nothing. */
  | { readonly kind: 'stay'; readonly head: Release; readonly step: number }
  /** Seal this content on the head and append a row that names it as target. */
  | { readonly kind: 'republish'; readonly target: Release }

export async function planMove(releases: ReleaseIndex, releaseId: string, operation: 'promote' | 'rollback'): Promise<PlannedMove> {
  const target = await releaseRow(releases, releaseId)
  const { row: head } = releases.head
  // Also when the head is a republished copy of that release: a retry after a lost answer must not move twice.
  if (head.release.release_id === releaseId || head.rollback_target_release_id === releaseId) {
    return { kind: 'stay', head: head.release, step: head.step }
  }
  if (operation === 'promote') await requireHeld(releases, target)
  else requireRestorable(target)
  return { kind: 'republish', target: target.release }
}

/** The held release to reject. Where the same words rejected it already, the step of that row: an answer may have been lost. */
export async function planRejection(releases: ReleaseIndex, releaseId: string, reason: string): Promise<Release | number> {
  const target = await releaseRow(releases, releaseId)
  if (provisionalGain(target) !== null)
    throw conflict('not_held', `release ${releaseId} is provisional and not held for review; withdraw it to end it`)
  const review = target.pending ? await releases.review(releaseId) : null
  if (review?.operation === 'reject' && review.metrics['reason'] === reason) return review.step
  await requireHeld(releases, target)
  return target.release
}

/** A release that is or was held for review: people may speak about it, also once it is decided. */
export async function requireOnceHeld(releases: ReleaseIndex, releaseId: string): Promise<Release> {
  const target = await releaseRow(releases, releaseId)
  if (target.pending && provisionalGain(target) === null) return target.release
  throw conflict('not_held', `release ${releaseId} was never held for review, so there is no decision to comment on`)
}

async function releaseRow(releases: ReleaseIndex, releaseId: string): Promise<ReleasedCommit> {
  const found = await releases.find(releaseId)
  if (found !== null) return found.row
  throw unknown('unknown_release', `release ${releaseId} is not one of this scenario; GET its releases for those that are`)
}

async function requireHeld(releases: ReleaseIndex, { pending, release: { release_id: id } }: ReleasedCommit): Promise<void> {
  if (!pending) throw conflict('not_held', `release ${id} is not held for review; use rollback to serve a published release again`)
  const review = await releases.review(id)
  if (review === null) return
  if (review.operation === 'reject')
    throw conflict('not_held', `release ${id} was rejected at step ${review.step}, which is final; ask for another try with a request`)
  const made = review.release.release_id
  throw conflict('not_held', `release ${id} was promoted at step ${review.step}; roll back to release ${made} to serve it again`)
}

function requireRestorable(target: ReleasedCommit): void {
  const { release_id: id } = target.release
  if (isRestorable(id) && isPublished(target)) return
  throw conflict(
    'not_restorable',
    `release ${id} cannot be restored: it was never published (promote it when it is held), or it lived only in an engine`,
  )
}
