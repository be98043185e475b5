/** Moved heads and the other gateways over the store: each says which step it serves, and a move waits for them. */
import { MEMBERS_WAIT_MS_MAX } from '../contract/index.ts'
import type { Scenario } from './scenario.ts'
import type { Services } from './services.ts'

/**
 * Resolves once every listener thread here and every other gateway serves the step, or after the bound. Answers which gateways do not; null
 * where that is not known, undefined where there can be no other.
 */
export async function servedEverywhere(services: Services, name: string, step: number): Promise<readonly string[] | null | undefined> {
  const { store, views } = services
  const [behind] = await Promise.all([store.members?.behind(name, step, MEMBERS_WAIT_MS_MAX), views?.settled()])
  return behind
}

/** Says to the others that this gateway serves the step, once it does. Called after the step was noted. */
export async function acknowledge({ store, views }: Services, scenario: Scenario, step: number): Promise<void> {
  if (store.members === undefined || !(await scenario.lane.run(async () => servesStep(scenario, step)))) return
  await views?.settled()
  store.members.followed(scenario.name, step)
}

/** An engine may refuse the release of a row that landed elsewhere. */
const servesStep = (scenario: Scenario, step: number): boolean =>
  scenario.history.step >= step && scenario.history.head.row.release.release_id === scenario.head().release_id
