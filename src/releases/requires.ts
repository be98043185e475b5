/**
 * What a release requires of a user's machine: the union over the steps of its chain. The chain goes from a release to its parent; a promote
 * or rollback continues at the release it copied, if its tree comes from there.
 */
import { isObject, type Requires } from '../contract/index.ts'
import type { Commits, MakerRow, ReleaseIndex } from './chain.ts'

/** By name, in order of first appearance, each as last requested. */
export async function requiresOf(releases: ReleaseIndex, releaseId: string): Promise<readonly Requires[]> {
  const newestFirst = await askingRows(releases, releaseId)
  const oldestFirst = newestFirst.toReversed().flatMap(({ row }) => itemsOf(row))
  return [...new Map(oldestFirst.map((item): [string, Requires] => [item.name, item])).values()]
}

/** The newest release of the chain without requirements, before the first that has any; null when there is none. */
export async function releaseWithoutRequires(
  releases: ReleaseIndex,
  releaseId: string,
  component: string | undefined,
): Promise<string | null> {
  const first = (await askingRows(releases, releaseId)).at(-1)
  if (first === undefined) return (await releases.find(releaseId))?.row.release.release_id ?? null
  const { rollback_target_release_id: copied, release } = first.row
  const target = copied === undefined ? null : await releases.find(copied)
  const next =
    target !== null && isSameTree(first.row, target.row, component) ? target : await releases.find(release.parent_release_id ?? '')
  return next?.row.release.release_id ?? null
}

/** The rows of the chain that require something, newest first. */
async function askingRows(releases: ReleaseIndex, releaseId: string): Promise<readonly MakerRow[]> {
  const rows: MakerRow[] = []
  let next = await releases.find(releaseId)
  while (next !== null) {
    if (itemsOf(next.row).length > 0) rows.push(next)
    next = next.made.asking === null ? null : await releases.find(next.made.asking)
  }
  return rows
}

type Row = Commits[number]

/** With several components a promote may have brought another one; then the tree is its parent's. */
export const isSameTree = (one: Row, other: Row, component: string | undefined): boolean =>
  component === undefined || one.release?.components?.[component] === other.release?.components?.[component]

/** Rows of older versions may hold anything; items of another shape are ignored. */
export function itemsOf({ metrics }: Row): readonly Requires[] {
  const request = metrics['training_request']
  const items = isObject(request) ? request['requires'] : undefined
  return Array.isArray(items) ? items.filter(isItem) : []
}

function isItem(value: unknown): value is Requires {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('kind' in value)) return false
  return typeof value.name === 'string' && typeof value.kind === 'string'
}
