/**
 * What a person must have set up for a release: the union of what the steps on its chain asked for. The chain goes from a release to its
 * parent; a promote or rollback goes on at the release it copied, where that is the one its tree comes from.
 */
import { isObject, type Requires } from '../contract/index.ts'
import type { Commits } from './chain.ts'

/** By name: in the order in which the names first came up, each as it was asked for last. */
export function requiresOf(commits: Commits, releaseId: string, component: string | undefined): readonly Requires[] {
  const oldestFirst = chainOf(commits, releaseId, component).toReversed()
  return [...new Map(oldestFirst.flatMap(itemsOf).map((item): [string, Requires] => [item.name, item])).values()]
}

/** The newest release of the chain for which nothing has to be set up; null when there is none. */
export function releaseWithoutRequires(commits: Commits, releaseId: string, component: string | undefined): string | null {
  const chain = chainOf(commits, releaseId, component)
  const after = chain.findLastIndex((row) => itemsOf(row).length > 0)
  return chain[after + 1]?.release?.release_id ?? null
}

type Row = Commits[number]

/** The rows that made the tree of the release, newest first. Without a component the tree is all that it holds. */
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

/** Of several components a promote may have brought another one; then the tree is still that of its parent. */
const isSameTree = (one: Row, other: Row, component: string | undefined): boolean =>
  component === undefined || one.release?.components?.[component] === other.release?.components?.[component]

/** Rows of an older service may hold anything; what is no item asks for nothing. */
function itemsOf({ metrics }: Row): readonly Requires[] {
  const request = metrics['training_request']
  const items = isObject(request) ? request['requires'] : undefined
  return Array.isArray(items) ? items.filter(isItem) : []
}

function isItem(value: unknown): value is Requires {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('kind' in value)) return false
  return typeof value.name === 'string' && typeof value.kind === 'string'
}
