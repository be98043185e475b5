/**
 * Releases: given the commits, answers who is head, what the chain is, and what a promote or rollback would do.
 * Does not decide whether a candidate is good, write anything, or know HTTP.
 */
export { catalogOf, catalogRow, heldReleases, isRestorable, LIFTED_METRICS } from './catalog.ts'
export type { CatalogView } from './catalog.ts'
export { isPublished, isReleased } from './chain.ts'
export type { PublishedCommit, ReleasedCommit } from './chain.ts'
export { commitRow } from './commit-row.ts'
export { listedCatalog, listedRow, Listing } from './listed.ts'
export type { ListedRow } from './listed.ts'
export { evaluationIn, pulledRelease } from './manifest.ts'
export { planMove } from './movement.ts'
export { MARKS_MAX, Places } from './places.ts'
export { releaseWithoutRequires, requiresOf } from './requires.ts'
