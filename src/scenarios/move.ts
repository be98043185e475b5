/** Promote and rollback: publish a kept release again as a row of its own. History is appended, never rewound. */
import { conflict, type JsonObject, type Release } from '../contract/index.ts'
import { planMove } from '../releases/index.ts'
import type { Services } from './services.ts'
import { commentOn } from './comment.ts'
import { composeOnto, type ReleaseContent } from './composed.ts'
import { inLandingLane } from './elsewhere.ts'
import { landRow } from './land.ts'
import { rejectRelease } from './reject.ts'
import type { Scenario } from './scenario.ts'
import { admitRelease } from './weights.ts'
import { withdrawRelease } from './withdraw.ts'

/** What is served after a move. */
export interface Moved {
  readonly head: Release
  readonly step: number
  /** The other gateways that do not serve it yet; null where that is not known. Absent: there is no other, or nothing was moved. */
  readonly behind?: readonly string[] | null | undefined
}

/** What a person may do with a release. */
export type Move = 'promote' | 'rollback' | 'withdraw' | 'reject' | 'comment'

/** What is said of a release, and the rejection of one that was never served, change nothing of what is served. */
export const changesServed = (operation: Move): boolean => operation !== 'reject' && operation !== 'comment'

/** What a person says, which goes into the row: the reason of a rejection, or a comment. */
export interface PersonsWords {
  readonly words: string | null
  /** The name of the token; null on an open service. */
  readonly by: string | null
}
export const NOTHING_SAID: PersonsWords = { words: null, by: null }

export function moveByHand(
  services: Services,
  scenario: Scenario,
  releaseId: string,
  operation: Move,
  { words, by }: PersonsWords,
): Promise<Moved> {
  if (operation === 'comment') return commentOn(services, scenario, releaseId, { text: words ?? '', by })
  if (operation === 'reject') return rejectRelease(services, scenario, releaseId, words ?? '')
  const metrics = words === null ? {} : { comment: words }
  if (operation === 'withdraw') return withdrawRelease(services, scenario, releaseId, { reason: 'a person withdrew it', ...metrics })
  return moveHead(services, scenario, releaseId, operation, metrics)
}

/** Of two moves the second sees the result of the first. */
function moveHead(
  services: Services,
  scenario: Scenario,
  releaseId: string,
  operation: 'promote' | 'rollback',
  metrics: JsonObject,
): Promise<Moved> {
  return inLandingLane(services, scenario, async () => {
    const plan = await planMove(scenario.releases, releaseId, operation)
    if (plan.kind === 'stay') return plan
    const contents = operation === 'promote' ? await promoted(services, scenario, plan.target) : plan.target
    await admitRelease(services, scenario, plan.target)
    const given = { operation, outcome: 'published', consumed_ids: [], metrics, state: {} } as const
    const row = await landRow(services, scenario, { ...given, rollback_target_release_id: releaseId }, contents)
    if (scenario.head() !== row.release) throw notTaken(releaseId)
    return { head: scenario.head(), step: row.step }
  })
}

const notTaken = (releaseId: string): Error =>
  conflict(
    'release_refused',
    `the engine does not serve release ${releaseId}: the previous release was published again; its row in the releases says why`,
  )

/** A rollback restores every component; a promote brings only the component that the held step changed. */
async function promoted(services: Services, scenario: Scenario, held: Release): Promise<ReleaseContent> {
  const { component = '' } = (await scenario.releases.find(held.release_id))?.row ?? {}
  return composeOnto(services, scenario.head(), held, component)
}
