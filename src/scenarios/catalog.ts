/** Reads the catalog of the tree that clients pull from the store, page by page. Positions in it are found by the totals of the rows. */
import type { Commit, ListedRow, ReleaseRow } from '../contract/index.ts'
import { catalogRow, isPublished, listedRow, type MakerRow } from '../releases/index.ts'
import { COMMITS_PER_READ } from './history.ts'
import type { Scenario } from './scenario.ts'
import { totalsOf, type Totals } from './totals.ts'

export interface PlacedRow {
  /** The position in the catalog, from 0. */
  readonly place: number
  readonly row: ListedRow
}

type CatalogSource = Pick<Scenario, 'history' | 'releases' | 'wholeRows'>

/** Where to begin: at a catalog position, or at the first row of that step or a later one. */
type From = { readonly place: number } | { readonly step: number }

export async function listedRows(scenario: CatalogSource, from: From, limit: number): Promise<readonly PlacedRow[]> {
  const { history } = scenario
  const found: PlacedRow[] = []
  let step = 'step' in from ? from.step : await stepAt(scenario, from.place)
  while (found.length < limit && step <= history.step) {
    const page = await scenario.wholeRows({ after: step - 1, limit: Math.min(COMMITS_PER_READ, limit - found.length) })
    if (page.length === 0) break
    found.push(...(await placedRows(scenario, page)))
    // Skips rows that the list leaves out.
    if (found.length < limit) step = await stepAt(scenario, countIn(page.at(-1), history.component))
  }
  return found
}

/** The rows of these that are listed. */
export async function placedRows(scenario: CatalogSource, page: readonly Commit[]): Promise<readonly PlacedRow[]> {
  const { component } = scenario.history
  return (await rowsAround(scenario, page)).flatMap(({ row, head, totals: { chain } }): readonly PlacedRow[] => {
    if (!chain.isListed) return []
    const place = chain.count - 1
    if (component === undefined) return [{ place, row }]
    const { as, parent } = chain.made ?? head.made
    const { release_id, parent_release_id, rollback_target_release_id: target } = row
    const names = new Map([
      [target ?? '', chain.target ?? ''],
      [parent_release_id ?? '', parent ?? ''],
      [release_id, as],
    ])
    return [{ place, row: listedRow(row, (id) => names.get(id) ?? id) }]
  })
}

/** These rows as the releases route shows them, in their order. They follow each other, one way or the other. */
export async function catalogRows(scenario: CatalogSource, page: readonly Commit[]): Promise<readonly ReleaseRow[]> {
  return (await rowsAround(scenario, page)).map(({ row }) => row)
}

interface RowAround {
  readonly row: ReleaseRow
  readonly totals: Totals
  /** The row that was served when this one had landed. */
  readonly head: MakerRow
}

async function rowsAround({ history, releases }: CatalogSource, page: readonly Commit[]): Promise<readonly RowAround[]> {
  const [first, last] = [page[0], page.at(-1)]
  if (first === undefined || last === undefined) return []
  const isForward = first.step <= last.step
  let head = await releases.headAt(Math.min(first.step, last.step))
  const rows: RowAround[] = []
  for (const commit of isForward ? page : page.toReversed()) {
    const totals = totalsOf(commit, history.component)
    if (totals === null) throw new Error(`step ${commit.step} has no totals`)
    const { made } = totals.chain
    if (made !== null && isPublished(commit)) head = { row: commit, made }
    const published = commit.release === null || isPublished(commit) || (await isPublishedElsewhere(releases, commit.release.release_id))
    const current = commit.step === history.head.row.step
    rows.push({
      row: catalogRow(commit, { head: head.row.release, current, published, provisional: history.provisional?.row.step ?? null }),
      totals,
      head,
    })
  }
  return isForward ? rows : rows.toReversed()
}

async function isPublishedElsewhere(releases: Scenario['releases'], releaseId: string): Promise<boolean> {
  const maker = await releases.find(releaseId)
  return maker !== null && isPublished(maker.row)
}

/** The first step of which so many rows and one more are listed: the row at that place. */
async function stepAt(scenario: CatalogSource, place: number): Promise<number> {
  const { history } = scenario
  if (place >= history.count) return history.step + 1
  if (history.component === undefined) return place
  // A row is listed once at most, so the step is at least the place.
  let [low, high, probe] = [place, history.step, place]
  while (low < high) {
    const [row] = await scenario.wholeRows({ after: probe - 1, limit: 1 })
    if (countIn(row, history.component) > place) high = probe
    else low = probe + 1
    probe = (low + high) >> 1
  }
  return low
}

/** How many rows are listed up to this one. */
const countIn = (row: Commit | undefined, component: string | undefined): number => (row && totalsOf(row, component)?.chain.count) ?? 0
