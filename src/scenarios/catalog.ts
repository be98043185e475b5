/** Reads the catalog of the tree that clients pull from the store, page by page. Rows without a release are not held in memory. */
import type { ListedRow } from '../contract/index.ts'
import { listedRow } from '../releases/index.ts'
import { COMMITS_PER_READ } from './history.ts'
import type { Scenario } from './scenario.ts'

export interface PlacedRow {
  /** The position in the catalog, from 0. */
  readonly place: number
  readonly row: ListedRow
}

/** Where to begin: at a catalog position, or at the first row of that step or a later one. */
type From = { readonly place: number } | { readonly step: number }

export async function listedRows(
  scenario: Pick<Scenario, 'history' | 'wholeRows'>,
  from: From,
  limit: number,
): Promise<readonly PlacedRow[]> {
  const { history } = scenario
  const { places, listing } = history
  const found: PlacedRow[] = []
  let { step, place } = 'place' in from ? places.atPlace(from.place) : places.atStep(from.step)
  while (found.length < limit && step <= history.step) {
    // The next wanted row is at least this many rows away.
    const ahead = Math.max(0, 'place' in from ? from.place - place : from.step - step)
    const page = await scenario.wholeRows({ after: step - 1, limit: Math.min(COMMITS_PER_READ, ahead + limit - found.length) })
    if (page.length === 0) break
    for (const commit of page) {
      const row = listedRow(commit, history, listing)
      step = commit.step + 1
      if (row === null) continue
      if ('place' in from ? place >= from.place : row.step >= from.step) found.push({ place, row })
      place += 1
    }
    // Skips rows that the list leaves out.
    step = Math.max(step, places.atPlace(place).step)
  }
  return found
}

/** The rows that made a release, by catalog position, oldest first. */
export function listedReleases({ history }: Pick<Scenario, 'history'>): ReadonlyMap<number, ListedRow> {
  return new Map(
    history.released.flatMap((commit): [number, ListedRow][] => {
      const [place, row] = [history.places.of(commit.step), listedRow(commit, history, history.listing)]
      return place === undefined || row === null ? [] : [[place, row]]
    }),
  )
}
