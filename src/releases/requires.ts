/**
 * What a release requires of a user's machine: the union over the steps of its chain. The chain goes from a release to its parent; a promote
 * or rollback continues at the release it copied, if its tree comes from there.
 */
import { isObject, type Requires } from '../contract/index.ts'
import type { Commits } from './chain.ts'

/** By name, in order of first appearance, each as last requested. */
export function requiresOf(commits: Commits, releaseId: string, component: string | undefined): readonly Requires[] {
  const oldestFirst = chainOf(commits, releaseId, component).toReversed()
  return [...new Map(oldestFirst.flatMap(itemsOf).map((item): [string, Requires] => [item.name, item])).values()]
}

/** The newest release of the chain without requirements; null when there is none. */
export function releaseWithoutRequires(commits: Commits, releaseId: string, component: string | undefined): string | null {
  const chain = chainOf(commits, releaseId, component)
  const after = chain.findLastIndex((row) => itemsOf(row).length > 0)
  return chain[after + 1]?.release?.release_id ?? null
}

type Row = Commits[number]

/** The rows that made the release's tree, newest first. Without a component the tree is the whole release. */
export function chainOf(commits: Commits, releaseId: string, component: string | undefined): readonly Row[] {
  const made = new Map<string, Row>()
  for (const row of commits) if (row.release !== null && !made.has(row.release.release_id)) made.set(row.release.release_id, row)
  const chain: Row[] = []
  let row = made.get(releaseId)
  while (row !== undefined) {
    chain.push(row)
    made.delete(row.release?.release_id ?? '')
    const copied = made.get(row.rollback_target_release_id ?? '')
    row = copied !== undefined && isSameTree(row, copied, component) ? copied : made.get(row.release?.parent_release_id ?? '')
  }
  return chain
}

/** With several components a promote may have brought another one; then the tree is its parent's. */
const isSameTree = (one: Row, other: Row, component: string | undefined): boolean =>
  component === undefined || one.release?.components?.[component] === other.release?.components?.[component]

/** Rows of older versions may hold anything; items of another shape are ignored. */
function itemsOf({ metrics }: Row): readonly Requires[] {
  const request = metrics['training_request']
  const items = isObject(request) ? request['requires'] : undefined
  return Array.isArray(items) ? items.filter(isItem) : []
}

function isItem(value: unknown): value is Requires {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('kind' in value)) return false
  return typeof value.name === 'string' && typeof value.kind === 'string'
}
