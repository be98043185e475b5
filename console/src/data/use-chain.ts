/** Follows the chain of a scenario while it is looked at. */
import { useRef } from 'preact/hooks'
import type { Svc } from 'svc-client'
import { usePolled, type Polled } from '../poll.ts'
import { useSession } from '../session.ts'
import { chainOfCatalog, chainOfReleases, type Chain } from './chain.ts'

const AGAIN_SECONDS = 5

export function useChain(scenario: string, seconds: number | null = AGAIN_SECONDS): Polled<Chain> {
  const session = useSession()
  /** A scenario keeps its recipe, so whether it serves files is asked once. */
  const serves = useRef<{ readonly scenario: string; readonly files: boolean } | null>(null)
  const ask = async (): Promise<Chain> => {
    const service = session.service(scenario)
    if (serves.current?.scenario === scenario && serves.current.files) return chainOfCatalog(await service.catalog())
    const releases = await service.releases()
    if (serves.current?.scenario !== scenario) serves.current = { scenario, files: await servesFiles(service, scenario) }
    return serves.current.files ? chainOfCatalog(await service.catalog()) : chainOfReleases(releases)
  }
  return usePolled(`chain of ${scenario}`, ask, seconds)
}

/** Only a scenario that is in memory tells; asking for its releases put it there. */
async function servesFiles(service: Svc, scenario: string): Promise<boolean> {
  const rows = await service.scenarios()
  return rows.find((row) => row.scenario === scenario)?.adapter !== undefined
}
