/** Plans a promote or rollback from the rows: nothing to do, or publish a kept release again. */
import { conflict, unknown } from '../contract/index.ts'
import type { Release } from '../contract/index.ts'
import { isRestorable } from './catalog.ts'
import { headRow, isPublished } from './chain.ts'
import type { Commits } from './chain.ts'

export type PlannedMove =
  /** Already served: answer the head, append nothing. */
  | { readonly kind: 'stay'; readonly head: Release; readonly step: number }
  /** Seal this content on the head and append a row that names it as target. */
  | { readonly kind: 'republish'; readonly target: Release }

export function planMove(commits: Commits, releaseId: string, operation: 'promote' | 'rollback'): PlannedMove {
  const target = commits.find((commit) => commit.release?.release_id === releaseId)?.release
  if (target === null || target === undefined) {
    throw unknown('unknown_release', `release ${releaseId} is not one of this scenario; GET its releases for those that are`)
  }
  const head = headRow(commits)
  // Also when the head is a republished copy of that release: a retry after a lost answer must not move twice.
  if (head.release.release_id === releaseId || head.rollback_target_release_id === releaseId) {
    return { kind: 'stay', head: head.release, step: head.step }
  }
  if (operation === 'promote') requireHeld(commits, releaseId)
  else requireRestorable(commits, releaseId)
  return { kind: 'republish', target }
}

function requireHeld(commits: Commits, releaseId: string): void {
  const held = commits.some((commit) => commit.pending && commit.release?.release_id === releaseId)
  if (!held) throw conflict('not_held', `release ${releaseId} is not held for review; use rollback to serve a published release again`)
  const promoted = commits.find((commit) => commit.operation === 'promote' && commit.rollback_target_release_id === releaseId)
  if (promoted === undefined) return
  const made = promoted.release?.release_id ?? 'it made'
  throw conflict('not_held', `release ${releaseId} was promoted at step ${promoted.step}; roll back to release ${made} to serve it again`)
}

function requireRestorable(commits: Commits, releaseId: string): void {
  if (isRestorable(releaseId) && commits.some((commit) => isPublished(commit) && commit.release.release_id === releaseId)) return
  throw conflict(
    'not_restorable',
    `release ${releaseId} cannot be restored: it was never published (promote it when it is held), or it lived only in an engine`,
  )
}
