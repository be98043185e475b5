/** Moves a scenario's head: a release that was kept is published once more, as a row of its own. History is appended, never rewound. */
import type { Release } from '../contract/index.ts'
import { planMove } from '../releases/index.ts'
import { pointBeside, type Household } from './bind.ts'
import { reach } from './reach.ts'
import { publishedRow } from './row.ts'
import type { Scenario } from './scenario.ts'

export interface Moved {
  readonly head: Release
  readonly step: number
}

/** In the scenario's lane, so that two moves at once are one after the other, and each sees what the other did. */
export function moveHead(house: Household, scenario: Scenario, releaseId: string, operation: 'promote' | 'rollback'): Promise<Moved> {
  return scenario.lane.run(async () => {
    const plan = planMove(scenario.commits, releaseId, operation)
    return plan.kind === 'stay' ? plan : republish(house, scenario, plan.target, operation)
  })
}

/** Content is there already; then the row, which is the move; then the pointer and whoever serves from the release. */
async function republish(house: Household, scenario: Scenario, target: Release, operation: 'promote' | 'rollback'): Promise<Moved> {
  const step = (scenario.commits.at(-1)?.step ?? 0) + 1
  const at = house.clock()
  const head = await reach(house.contents.seal(target.content_id, scenario.head(), { step, operation, at }))
  const row = publishedRow(head, { step, operation, recorded_at: at, state: {}, rollback_target_release_id: target.release_id })
  await scenario.store.commit(row)
  scenario.landed(row)
  pointBeside(house, scenario.name, head)
  await scenario.surface.loader?.load(head)
  return { head, step }
}
