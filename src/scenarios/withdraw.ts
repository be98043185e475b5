/** Ends the provisional release by a row of its own: nobody is served it from then on. */
import { conflict, provisionalGain, type JsonObject, type Release } from '../contract/index.ts'
import { inLandingLane } from './elsewhere.ts'
import { endedMetrics, landRow } from './land.ts'
import type { Scenario } from './scenario.ts'
import type { Services } from './services.ts'

/** The head, which stays what it is, and the step of the row. */
interface HeadAfter {
  readonly head: Release
  readonly step: number
}

/** `why` goes into the row. One that was withdrawn already stays so, without another row: an answer may have been lost. Throws for any other. */
export function withdrawRelease(services: Services, scenario: Scenario, releaseId: string, why: JsonObject): Promise<HeadAfter> {
  return inLandingLane(services, scenario, async () => {
    const { provisional } = scenario.history
    if (provisional?.row.release.release_id !== releaseId) {
      if (!(await isWithdrawn(scenario, releaseId))) throw notProvisional(releaseId)
      return { head: scenario.head(), step: scenario.history.head.row.step }
    }
    const metrics = { ...why, ...endedMetrics(provisional.row, 'withdrawn') }
    const given = { operation: 'withdraw', outcome: 'rejected', consumed_ids: [], metrics, state: {} } as const
    const { step } = await landRow(services, scenario, { ...given, rollback_target_release_id: releaseId }, null)
    return { head: scenario.head(), step }
  })
}

async function isWithdrawn({ history, releases }: Scenario, releaseId: string): Promise<boolean> {
  const { withdrawn = [] } = history.totals?.provisional ?? {}
  const row = withdrawn.length === 0 ? undefined : (await releases.find(releaseId))?.row
  return row !== undefined && provisionalGain(row) !== null && withdrawn.includes(row.release.content_id)
}

const notProvisional = (releaseId: string): Error =>
  conflict('not_provisional', `release ${releaseId} is not the provisional release of this scenario; it may have ended already`)
