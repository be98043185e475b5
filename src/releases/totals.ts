/**
 * What the rows up to one of them say of the chain, in constant size: how many are listed, how often contents changed, and of the release that
 * the row made where it stands. Each is derived from the totals before it and the rows that its release, its parent and its target name.
 */
import { isObject, type Commit, type Json, type JsonObject } from '../contract/index.ts'
import { isPublished, isReleased, type MadeRelease, type MakerRow, type ReleasedCommit } from './chain.ts'
import { isSameTree, itemsOf } from './requires.ts'

export interface ChainTotals {
  /** How many rows are listed so far, this one included, and whether it is. */
  readonly count: number
  readonly isListed: boolean
  /** The step of the newest published row that is listed; -1 for none. */
  readonly served: number
  /** How often the served content changed since creation: of the whole release under '', and of every component there was. */
  readonly publications: ReadonlyMap<string, number>
  /** What the release is listed as that the row published again. */
  readonly target: string | null
  /** Null for a row without a release. */
  readonly made: MadeRelease | null
}

/** The rows before this one that its release, its parent and its target name. */
export interface NamedRows {
  readonly own: MakerRow | null
  readonly parent: MakerRow | null
  readonly target: MakerRow | null
}

const NO_ROWS = { count: 0, served: -1, publications: new Map<string, number>() } as const

/** `head`: the row served before this one; null before the creation row. `component`: whose tree is listed. */
export function chainTotals(
  before: ChainTotals | null,
  head: MakerRow | null,
  row: Commit,
  named: NamedRows,
  component: string | undefined,
): ChainTotals {
  const { count, served, publications } = before ?? NO_ROWS
  const made = isReleased(row) ? (named.own?.made ?? madeBy(row, named, component)) : null
  const isListed = isRowListed(row, made === null ? head : isReleased(row) ? { row, made } : null, component)
  const isNew = isPublished(row)
  return {
    count: count + (isListed ? 1 : 0),
    isListed,
    served: isNew && isListed ? row.step : served,
    publications: isNew ? publicationsWith(publications, head?.row ?? null, row) : publications,
    target: row.rollback_target_release_id === undefined ? null : (named.target?.made.as ?? row.rollback_target_release_id),
    made,
  }
}

function madeBy(row: ReleasedCommit, { parent, target }: NamedRows, component: string | undefined): MadeRelease {
  const { release_id, parent_release_id, components } = row.release
  const isChanged = component === undefined || parent === null || parent.row.release.components?.[component] !== components?.[component]
  const next = target !== null && isSameTree(row, target.row, component) ? target : parent
  const isCopy = row.operation === 'promote' || row.operation === 'rollback'
  return {
    as: isChanged ? release_id : parent.made.as,
    parent: parent?.made.as ?? parent_release_id,
    evaluated: isCopy ? (next?.made.evaluated ?? null) : row.step,
    asking: next === null ? null : itemsOf(next.row).length > 0 ? next.row.release.release_id : next.made.asking,
  }
}

/** `shown`: the release that the row made or ran on. */
function isRowListed({ operation, component: own }: Commit, shown: MakerRow | null, component: string | undefined): boolean {
  if (component === undefined) return true
  return operation === 'train' ? own === component : shown?.made.as === shown?.row.release.release_id
}

function publicationsWith(
  before: ChainTotals['publications'],
  head: ReleasedCommit | null,
  row: ReleasedCommit,
): ChainTotals['publications'] {
  const names = new Set(['', ...before.keys(), ...Object.keys(row.release.components ?? {})])
  return new Map([...names].map((name) => [name, publicationsOf(before, name) + (contentIn(head, name) === contentIn(row, name) ? 0 : 1)]))
}

/** The first publication is not a change. A component that no release had yet counts as the whole content. */
export const publicationsOf = (publications: ChainTotals['publications'], component: string): number =>
  publications.get(component) ?? publications.get('') ?? -1

export function contentIn(commit: ReleasedCommit | null, component: string): string | null {
  const { components, content_id } = commit?.release ?? {}
  return components?.[component] ?? content_id ?? null
}

// ── as a row keeps it ────────────────────────────────────────────────────────────────────────

export function printChainTotals({ publications, target, made, ...numbers }: ChainTotals): JsonObject {
  return {
    ...numbers,
    publications: [...publications].map(([component, count]) => [component, count]),
    ...(target !== null && { target }),
    ...(made !== null && { made: { ...made } }),
  }
}

/** Null for what this version did not write. */
export function readChainTotals(stored: JsonObject): ChainTotals | null {
  const { count, isListed, served, publications, target = null } = stored
  const made = stored['made'] === undefined ? null : readMade(stored['made'])
  if (typeof count !== 'number' || typeof served !== 'number' || typeof isListed !== 'boolean') return null
  if (!Array.isArray(publications) || !isText(target) || made === undefined) return null
  return { count, isListed, served, publications: new Map(publications.flatMap(countOf)), target, made }
}

function readMade(stored: Json): MadeRelease | undefined {
  if (!isObject(stored)) return undefined
  const { as, parent, evaluated, asking } = stored
  if (typeof as !== 'string' || !isText(parent) || !isText(asking)) return undefined
  return evaluated === null || typeof evaluated === 'number' ? { as, parent, evaluated, asking } : undefined
}

const isText = (value: Json | undefined): value is string | null => value === null || typeof value === 'string'

function countOf(entry: Json): [string, number][] {
  if (!Array.isArray(entry)) return []
  const [component, count]: readonly Json[] = entry
  return typeof component === 'string' && typeof count === 'number' ? [[component, count]] : []
}
