/** Refs moved to where they should be, here or in a remote: from values last known, by compare-and-swap, and losing none. */
import { conflict, unknown } from '../../../../src/contract/index.ts'
import type { Release } from '../../../../src/contract/index.ts'
import { displacedRef } from './ref-names.ts'

/** How often others may move the same refs first before that is called a conflict. */
const ATTEMPTS_MAX = 5

export interface Goal {
  readonly ref: string
  readonly releaseId: string
}
/** Null: there is no such ref before, or after. */
export interface Change {
  readonly ref: string
  readonly from: string | null
  readonly to: string | null
}
export interface RefPlace {
  /** Every ref of ours there, as last read or written. */
  readonly known: ReadonlyMap<string, string>
  /** All or none; throws when a ref is not where its change says it is. */
  change(changes: readonly Change[]): Promise<void>
  /** Brings `known` up to date. What it throws means that the place cannot be reached at all. */
  refresh(): Promise<void>
}
export type Find = (releaseId: string) => Promise<Release | null>

/** All in one transaction; when that is refused, half by half, so that a bad goal fails alone. Answers why, by ref. */
export async function settleGoals(place: RefPlace, goals: readonly Goal[], find: Find): Promise<ReadonlyMap<string, unknown>> {
  try {
    await transact(place, goals, find)
    return new Map()
  } catch (error) {
    if (error instanceof OutOfReach) return new Map(goals.map(({ ref }) => [ref, error.cause]))
    if (goals.length <= 1) return new Map(goals.map(({ ref }) => [ref, error]))
    const half = Math.ceil(goals.length / 2)
    const first = await settleGoals(place, goals.slice(0, half), find)
    return new Map([...first, ...(await settleGoals(place, goals.slice(half), find))])
  }
}

/** A refusal after which one of the refs stands elsewhere is another process's move: it is planned again on top of that. */
async function transact(place: RefPlace, goals: readonly Goal[], find: Find): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const changes = (await Promise.all(goals.map((goal) => planned(goal, place.known, find)))).flat()
    if (changes.length === 0) return
    try {
      return await place.change(changes)
    } catch (error) {
      await place.refresh().catch((cause: unknown) => {
        throw new OutOfReach(cause)
      })
      if (changes.every(({ ref, from }) => (place.known.get(ref) ?? null) === from)) throw error
    }
  }
  throw conflict('pointer_contended', 'another service keeps moving the same pointer; let one service alone publish under a scenario name')
}

class OutOfReach extends Error {
  constructor(cause: unknown) {
    super('the place of the refs cannot be reached', { cause })
  }
}

/**
 * A pointer goes from an ancestor to its descendant. One that stands anywhere else was set by other rows than ours: what it names
 * is kept under the archived refs in the same transaction.
 */
async function planned({ ref, releaseId }: Goal, known: ReadonlyMap<string, string>, find: Find): Promise<readonly Change[]> {
  const from = known.get(ref) ?? null
  if (from === releaseId) return []
  if ((await find(releaseId)) === null) throw noRelease(releaseId)
  const move: Change = { ref, from, to: releaseId }
  if (from === null || (await isAncestor(from, releaseId, find))) return [move]
  const aside = displacedRef(ref, from)
  return aside === null || known.has(aside) ? [move] : [{ ref: aside, from: null, to: from }, move]
}

async function isAncestor(ancestor: string, releaseId: string, find: Find): Promise<boolean> {
  for (let at: string | null = releaseId; at !== null; at = (await find(at))?.parent_release_id ?? null) {
    if (at === ancestor) return true
  }
  return false
}

export const noRelease = (releaseId: string): Error =>
  unknown('unknown_release', `release ${releaseId} is not in this repository; seal it first`)
