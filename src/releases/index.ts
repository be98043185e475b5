/**
 * Releases: given the commits, answers who is head, what the chain is, and what a promote or rollback would do.
 * Does not decide whether a candidate is good, write anything, or know HTTP.
 */
export { catalogOf, heldReleases, isRestorable, LIFTED_METRICS, restorableIds } from './catalog.ts'
export type { ReleaseRow } from './catalog.ts'
export { headOf, publications } from './chain.ts'
export { commitRow } from './commit-row.ts'
export { listedCatalog, pulledId } from './listed.ts'
export type { ListedRow } from './listed.ts'
export { pulledRelease } from './manifest.ts'
export { planMove } from './movement.ts'
export { releaseWithoutRequires, requiresOf } from './requires.ts'
