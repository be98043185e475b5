/** A list of releases that is looked at again and again: rows that were read stay as they are, and only those after them are asked for. */
import type { CatalogRow, ReleasePage, ReleaseQuery, ReleaseRow, Svc } from '@svc-ai/client'

interface Paged<Row> {
  releasePage(query?: ReleaseQuery): Promise<ReleasePage<Row>>
}

/** The catalog, oldest first. The last row known is asked for once more: another one in its place is another scenario of that name. */
export async function grownCatalog(service: Pick<Svc, 'catalogPage'>, known: readonly CatalogRow[]): Promise<readonly CatalogRow[]> {
  const last = known.at(-1)
  const rows: CatalogRow[] = []
  for (let after = last === undefined || last.step === 0 ? null : last.step - 1; ;) {
    const { releases, next } = await service.catalogPage(after === null ? {} : { after_step: after })
    rows.push(...releases)
    if (next === null || next === after) break
    after = next
  }
  if (last === undefined) return oneServed(rows.toReversed()).toReversed()
  const [again, ...more] = rows
  if (!isSame(again, last)) return grownCatalog(service, [])
  return oneServed([...more.toReversed(), again, ...known.slice(0, -1).toReversed()]).toReversed()
}

/** The releases, newest first. */
export async function grownReleases<Row extends ReleaseRow>(service: Paged<Row>, known: readonly Row[]): Promise<readonly Row[]> {
  const [last, ...older] = known
  const rows: Row[] = []
  for (let before: number | null = null; ;) {
    const { releases, next }: ReleasePage<Row> = await service.releasePage(before === null ? {} : { before_step: before })
    const met = last === undefined ? -1 : releases.findIndex(({ step }) => step <= last.step)
    if (last !== undefined && met !== -1)
      return isSame(releases[met], last) ? oneServed([...rows, ...releases.slice(0, met + 1), ...older]) : grownReleases(service, [])
    rows.push(...releases)
    if (next === null || next === before) return last === undefined ? oneServed(rows) : grownReleases(service, [])
    before = next
  }
}

const isSame = <Row extends ReleaseRow>(row: Row | undefined, known: Row): row is Row =>
  row?.step === known.step && row.recorded_at === known.recorded_at && row.release_id === known.release_id

/** Newest first. Of rows that were read at different times the newest that says it is served is. */
function oneServed<Row extends ReleaseRow>(rows: readonly Row[]): readonly Row[] {
  const served = rows.findIndex(({ current }) => current)
  return rows.map((row, at) => (row.current && at !== served ? { ...row, current: false } : row))
}
