/**
 * Releases: derives the head, the chain, and the effect of a promote or rollback from the commits.
 * Does not judge candidates, write anything, or know HTTP.
 */
export { catalogOf, catalogRow, commitRow, heldReleases, isRestorable } from './catalog.ts'
export type { CatalogView } from './catalog.ts'
export { isPublished, isReleased } from './chain.ts'
export type { PublishedCommit, ReleasedCommit } from './chain.ts'
export { listedCatalog, listedRow, Listing } from './listed.ts'
export { evaluationIn, pulledRelease } from './manifest.ts'
export { planMove } from './movement.ts'
export { MARKS_MAX, CatalogPositions } from './positions.ts'
export { releaseWithoutRequires, requiresOf } from './requires.ts'
