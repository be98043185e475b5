/** Follows the chain of a scenario while it is looked at. */
import { useRef } from 'preact/hooks'
import type { CatalogRow, ReleaseRow, Svc } from '@svc-ai/client'
import { usePolled, type Polled } from '../poll.ts'
import type { ConsoleSession } from '../session.ts'
import { chainOfCatalog, chainOfReleases, type StepChain } from './chain.ts'
import { grownCatalog, grownReleases } from './grow.ts'

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

/** What was read of a scenario before. */
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
