/** Rejects a held release by a row of its own, which says why; and what trainers are told of it. */
import type { Rejection, Release } from '../contract/index.ts'
import { planRejection } from '../releases/index.ts'
import { inLandingLane } from './elsewhere.ts'
import { reviewRelease } from './land.ts'
import type { Scenario } from './scenario.ts'
import type { Services } from './services.ts'

/** The head, which stays what it is, and the step of the row that rejected the release. */
interface HeadAfter {
  readonly head: Release
  readonly step: number
}

export function rejectRelease(services: Services, scenario: Scenario, releaseId: string, reason: string): Promise<HeadAfter> {
  return inLandingLane(services, scenario, async () => {
    const plan = await planRejection(scenario.releases, releaseId, reason)
    if (typeof plan === 'number') return { head: scenario.head(), step: plan }
    const given = { operation: 'reject', outcome: 'rejected', consumed_ids: [], metrics: { reason }, state: {} } as const
    const { step } = await reviewRelease(services, scenario, { ...given, rollback_target_release_id: releaseId }, plan)
    return { head: scenario.head(), step }
  })
}

/** A trainer keeps what it was told, so it needs the latest alone. */
const TOLD_MAX = 8

/** The latest releases of this trainer that people rejected, newest last. */
export async function rejectionsOf({ history, store }: Scenario, component: string): Promise<readonly Rejection[]> {
  const told = (history.totals?.rejected ?? []).slice(-TOLD_MAX)
  const found = await Promise.all(
    told.map(async ({ step }): Promise<readonly Rejection[]> => {
      const [row] = await store.commits({ after: step - 1, limit: 1 })
      const held = await store.release(row?.release?.release_id ?? '')
      const reason = row?.metrics['reason']
      if (held === null || (held.component ?? '') !== component || typeof reason !== 'string') return []
      return [{ step: held.step, rejected_at: step, reason, metrics: held.metrics }]
    }),
  )
  return found.flat()
}
