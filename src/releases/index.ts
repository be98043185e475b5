/**
 * Releases: derives the head, the chain, and the effect of a promote, rollback or rejection from the commits.
 * Does not judge candidates, write anything, or know HTTP.
 */
export { catalogOf, catalogRow, commitRow, isRestorable } from './catalog.ts'
export { isPublished, isReleased } from './chain.ts'
export type { MakerRow, PublishedCommit, ReleasedCommit, ReleaseIndex } from './chain.ts'
export { listedCatalog, listedRow } from './listed.ts'
export { evaluationIn, notPulled, pulledRelease } from './manifest.ts'
export { planMove, planRejection, requireOnceHeld } from './movement.ts'
export { NO_PROVISIONAL, printProvisional, provisionalAfter, readProvisional, type ProvisionalTotals } from './provisional.ts'
export { printRejected, readRejected, rejectedAfter, type RejectedContent } from './rejected.ts'
export { releaseWithoutRequires, requiresOf } from './requires.ts'
export { chainTotals, contentIn, printChainTotals, publicationsOf, readChainTotals, type ChainTotals } from './totals.ts'
