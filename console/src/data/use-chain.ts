/** Follows the chain of a scenario while it is looked at: rows that were read stay as they are, and only those after them are read. */
import { useRef } from 'preact/hooks'
import type { CatalogRow, ReleasePage, ReleaseQuery, ReleaseRow, Svc } from '@svc-ai/client'
import { usePolled, type Polled } from '../poll.ts'
import type { ConsoleSession } from '../session.ts'
import { chainOfCatalog, chainOfReleases, type StepChain } from './chain.ts'

const AGAIN_SECONDS = 5

export function useChain(scenario: string, seconds: number | null = AGAIN_SECONDS): Polled<StepChain> {
  /** The recipe of a scenario never changes, so this is asked once. */
  const serves = useRef<{ readonly scenario: string; readonly files: boolean } | null>(null)
  const known = useRef<Known>({ scenario, catalog: [], releases: [] })
  const ask = async (serviceOf: ConsoleSession['service']): Promise<StepChain> => {
    const service = serviceOf(scenario)
    if (known.current.scenario !== scenario) known.current = { scenario, catalog: [], releases: [] }
    const rows = known.current
    if (serves.current?.scenario !== scenario) serves.current = { scenario, files: await servesFiles(service, scenario) }
    if (serves.current.files) return chainOfCatalog((rows.catalog = await grownCatalog(service, rows.catalog)))
    return chainOfReleases((rows.releases = await grownReleases(service, rows.releases)))
  }
  return usePolled(`chain of ${scenario}`, ask, seconds)
}

interface Known {
  readonly scenario: string
  catalog: readonly CatalogRow[]
  releases: readonly ReleaseRow[]
}

/** Only a loaded scenario reports it; asking for its releases loads it. */
async function servesFiles(service: Svc, scenario: string): Promise<boolean> {
  await service.releasePage({ limit: 1 })
  const rows = await service.scenarios()
  return rows.find((row) => row.scenario === scenario)?.adapter !== undefined
}

interface Paged<Row> {
  releasePage(query?: ReleaseQuery): Promise<ReleasePage<Row>>
}

/** The catalog, oldest first. The last row known is asked for once more: another one in its place is another scenario of that name. */
export async function grownCatalog(service: Pick<Svc, 'catalogPage'>, known: readonly CatalogRow[]): Promise<readonly CatalogRow[]> {
  const [last, ...older] = settled(known.toReversed())
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
  return oneServed([...more.toReversed(), again, ...older]).toReversed()
}

/** The releases, newest first. */
export async function grownReleases<Row extends ReleaseRow>(service: Paged<Row>, known: readonly Row[]): Promise<readonly Row[]> {
  const [last, ...older] = settled(known)
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

/** Newest first. A later row may end a provisional release, so from that one on rows are read again. */
function settled<Row extends ReleaseRow>(rows: readonly Row[]): readonly Row[] {
  const provisional = rows.findIndex((row) => row.provisional === true)
  return rows.slice(Math.max(0, provisional))
}

const isSame = <Row extends ReleaseRow>(row: Row | undefined, known: Row): row is Row =>
  row?.step === known.step && row.recorded_at === known.recorded_at && row.release_id === known.release_id

/** Newest first. Of rows that were read at different times the newest that says it is served is. */
function oneServed<Row extends ReleaseRow>(rows: readonly Row[]): readonly Row[] {
  const served = rows.findIndex(({ current }) => current)
  return rows.map((row, at) => (row.current && at !== served ? { ...row, current: false } : row))
}
