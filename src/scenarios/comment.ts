/** Keeps what a person says of a held release, as a row of its own that decides nothing. */
import { conflict, COMMENTS_PER_RELEASE_MAX, type Release } from '../contract/index.ts'
import { requireOnceHeld } from '../releases/index.ts'
import { inLandingLane } from './elsewhere.ts'
import { reviewRelease } from './land.ts'
import type { Scenario } from './scenario.ts'
import type { Services } from './services.ts'

interface Comment {
  readonly text: string
  readonly by: string | null
}

/** The head, which stays what it is, and the step of the row. The same words again right after are one comment: an answer may be lost. */
export function commentOn(
  services: Services,
  scenario: Scenario,
  releaseId: string,
  { text, by }: Comment,
): Promise<{ readonly head: Release; readonly step: number }> {
  return inLandingLane(services, scenario, async () => {
    const held = await requireOnceHeld(scenario.releases, releaseId)
    const said = await scenario.releases.comments(releaseId, COMMENTS_PER_RELEASE_MAX)
    const last = said.at(-1)
    if (last !== undefined && last.metrics['comment'] === text && (last.metrics['by'] ?? null) === by)
      return { head: scenario.head(), step: last.step }
    if (said.length === COMMENTS_PER_RELEASE_MAX)
      throw conflict('too_many_comments', `release ${releaseId} has ${COMMENTS_PER_RELEASE_MAX} comments, which is the most; decide on it`)
    const metrics = { comment: text, ...(by !== null && { by }) }
    const given = { operation: 'comment', outcome: 'skipped', consumed_ids: [], metrics, state: {} } as const
    const { step } = await reviewRelease(services, scenario, { ...given, rollback_target_release_id: releaseId }, held)
    return { head: scenario.head(), step }
  })
}
