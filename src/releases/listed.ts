/**
 * The catalog of the tree that clients pull. With several components only releases that changed that tree are listed. The ids are those of
 * listed releases; the ids of the composed releases are kept under `composed_…`.
 */
import type { ListedRow, Release, ReleaseRow } from '../contract/index.ts'
import { catalogOf } from './catalog.ts'
import type { Commits } from './chain.ts'

/** Oldest first. Without a component the tree is the whole release, and every row is listed. */
export function listedCatalog(commits: Commits, component: string | undefined): readonly ListedRow[] {
  const listing = listingOf(commits, component)
  return catalogOf(commits).flatMap((row) => listing.shown(row) ?? [])
}

/** Maps each release to the listed release it carries: itself when it changed the tree, else its parent's. */
class Listing {
  readonly #component: string | undefined
  readonly #trees = new Map<string, string | undefined>()
  readonly #listedAs = new Map<string, string>()

  constructor(component: string | undefined) {
    this.#component = component
  }

  follow({ release }: Commits[number]): void {
    const component = this.#component
    if (component === undefined || release === null || this.#listedAs.has(release.release_id)) return
    const { release_id, parent_release_id, components } = release
    const parent = parent_release_id ?? ''
    const isChanged = !this.#listedAs.has(parent) || this.#trees.get(parent) !== components?.[component]
    this.#listedAs.set(release_id, isChanged ? release_id : this.idOf(parent))
    this.#trees.set(release_id, components?.[component])
  }

  idOf(releaseId: string): string {
    return this.#listedAs.get(releaseId) ?? releaseId
  }

  /** `release_id`: the release that the row made or ran on. */
  isListed({ operation, component, release_id }: Pick<ReleaseRow, 'operation' | 'component' | 'release_id'>): boolean {
    if (this.#component === undefined) return true
    return operation === 'train' ? component === this.#component : this.idOf(release_id) === release_id
  }

  /** The row as listed; null for one that is left out. */
  shown(row: ReleaseRow): ListedRow | null {
    if (!this.isListed(row)) return null
    return this.#component === undefined ? row : listedRow(row, (id) => this.idOf(id))
  }
}

function listingOf(commits: Commits, component: string | undefined): Listing {
  const listing = new Listing(component)
  for (const commit of commits) listing.follow(commit)
  return listing
}

/** `idOf`: what a release is listed as. */
export function listedRow(row: ReleaseRow, idOf: (releaseId: string) => string): ListedRow {
  const named = (id: Release['parent_release_id']): string | null => (id === null ? null : idOf(id))
  const { release_id, parent_release_id: parent, rollback_target_release_id: target } = row
  const own = named(release_id) ?? release_id
  return {
    ...row,
    release_id: own,
    parent_release_id: named(parent),
    ...(own !== release_id && { composed_release_id: release_id }),
    ...(parent !== null && { composed_parent_release_id: parent }),
    ...(target !== undefined && { rollback_target_release_id: named(target) ?? target }),
    ...(target !== undefined && named(target) !== target && { composed_rollback_target_release_id: target }),
  }
}
