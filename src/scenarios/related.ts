/** The rows that a page about one row refers to: what is served, what it came from, and what was made of it. Held in memory for that page alone. */
import type { Commit, ListedRow, ReleaseRow } from '../contract/index.ts'
import { isPublished, isReleased, type ReleasedCommit } from '../releases/index.ts'
import { catalogRows, placedRows } from './catalog.ts'
import { COMMITS_PER_READ, remembered } from './history.ts'
import type { Scenario } from './scenario.ts'
import { releasesTakenFrom } from './taken-from.ts'
import { totalsOf } from './totals.ts'

type RelatedSource = Pick<Scenario, 'history' | 'releases' | 'wholeRows'>

/** By place in the catalog, oldest first. `row` is as listed; null for none. */
export async function relatedRows(scenario: RelatedSource, row: ReleaseRow | null): Promise<ReadonlyMap<number, ListedRow>> {
  const { history, releases } = scenario
  const rows = new Collected()
  const served = await rowAt(scenario, history.totals?.chain.served ?? -1)
  rows.add(served)
  if (row !== null) {
    rows.add(await rowAt(scenario, row.step))
    for (const id of [row.release_id, row.parent_release_id, row.rollback_target_release_id])
      rows.add((await releases.find(id ?? ''))?.row ?? null)
    if (row.result === 'published' || row.result === 'pending') await addSuccessors(scenario, row.release_id, rows)
  }
  const taken = new Map((row === null ? [] : await releasesTakenFrom(scenario, row)).map((each) => [each.step, each]))
  for (const each of taken.values()) rows.add(each)
  await addReviews(scenario, rows)
  const placed = await Promise.all(rows.all.map(async (each) => placedRows(scenario, [taken.get(each.step) ?? remembered(each)])))
  return new Map(placed.flat().map(({ place, row: shown }) => [place, shown]))
}

/** The same by step, of the whole releases: for a row that is not listed. */
export async function relatedReleases(scenario: RelatedSource, row: Commit | null): Promise<ReadonlyMap<number, ReleaseRow>> {
  const rows = new Collected()
  for (const each of [scenario.history.head.row, row]) rows.add(each)
  await addReviews(scenario, rows)
  const shown = await Promise.all(rows.all.map(async (each) => catalogRows(scenario, [remembered(each)])))
  return new Map(shown.flat().map((each) => [each.step, each]))
}

class Collected {
  readonly #rows = new Map<number, ReleasedCommit>()

  add(row: Commit | null): void {
    if (row !== null && isReleased(row)) this.#rows.set(row.step, row)
  }

  get all(): readonly ReleasedCommit[] {
    return [...this.#rows.values()].toSorted((one, other) => one.step - other.step)
  }
}

async function rowAt(scenario: RelatedSource, step: number): Promise<Commit | null> {
  const [row = null] = step < 0 ? [] : await scenario.wholeRows({ after: step - 1, limit: 1 })
  return row
}

/** What was made on the release, and what published it again. Both also of releases that carry its tree. */
async function addSuccessors(scenario: RelatedSource, releaseId: string, rows: Collected): Promise<void> {
  const { releases, history } = scenario
  const made = await releases.find(releaseId)
  if (made === null) return
  await addAgain(scenario, releaseId, rows)
  for (let after = made.row.step; ;) {
    const page = await releases.page({ after, limit: COMMITS_PER_READ })
    for (const each of page) {
      const own = totalsOf(each, history.component)?.chain.made
      if (own?.parent === releaseId) rows.add(each)
      if (own?.as === releaseId) await addAgain(scenario, each.release.release_id, rows)
      // Once another tree is served, nothing more is made on this one.
      else if (isPublished(each)) return
    }
    const last = page.at(-1)
    if (last === undefined) return
    after = last.step
  }
}

async function addAgain({ releases }: RelatedSource, releaseId: string, rows: Collected): Promise<void> {
  for (let after = -1; ;) {
    const page = await releases.page({ after, limit: COMMITS_PER_READ, only: { target: releaseId } })
    for (const each of page) rows.add(each)
    const last = page.at(-1)
    if (last === undefined) return
    after = last.step
  }
}

async function addReviews({ releases }: RelatedSource, rows: Collected): Promise<void> {
  for (const { pending, release } of rows.all) if (pending) rows.add(await releases.review(release.release_id))
}
