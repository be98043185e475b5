/** Rows that landed elsewhere: read from the store, and served here. */
import { isEngineAway, isStepConflict, type ScenarioStore } from '../contract/index.ts'
import { createdWith } from './files.ts'
import { load } from './land.ts'
import { followRows } from './read-history.ts'
import { unknownScenario, type Scenario } from './scenario.ts'
import type { Services } from './services.ts'

/** Each further attempt means that another row landed first. */
const LANDING_ATTEMPTS_MAX = 10

/** Runs a task that lands a row in the scenario's lane. When a row landed elsewhere first, the task runs again over that row. */
export function inLandingLane<T>(services: Services, scenario: Scenario, task: () => Promise<T>): Promise<T> {
  return scenario.lane.run(async () => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await task()
      } catch (error) {
        if (!isStepConflict(error) || attempt === LANDING_ATTEMPTS_MAX) throw error
        if (await followLanded(services, scenario)) continue
        // No row to follow: the scenario may have been archived while they were read.
        await checkCreation(scenario.store, scenario)
        throw error
      }
    }
  })
}

/** A row of that step is durable; also called for rows of this process that are still landing. Returns at once. */
export function noteStep(services: Services, scenario: Scenario, step: number): void {
  if (step <= scenario.history.step || step <= scenario.newestStep) return
  scenario.newestStep = step
  const following = scenario.lane.run(async () => {
    if (scenario.history.step < step) await followLanded(services, scenario)
  })
  following.catch((error: unknown) => {
    scenario.newestStep = scenario.history.step
    if (!scenario.isArchived) services.warn('a row that landed elsewhere could not be read; the next request tries again', error)
  })
}

/** Runs in the scenario's lane, or while it is being loaded. Answers whether there were rows to follow. */
export async function followLanded(services: Services, scenario: Scenario): Promise<boolean> {
  const { store, history } = scenario
  const known = history.step
  await checkCreation(store, scenario)
  await followRows(store, history)
  if (history.step === known) return false
  if (history.head.row.release.release_id !== scenario.head().release_id) await serveHead(services, scenario)
  else scenario.settle()
  return true
}

/** The name may belong to another scenario by now, whose rows are not to be followed. */
async function checkCreation(store: ScenarioStore, scenario: Scenario): Promise<void> {
  const [created] = await store.commits({ after: -1, limit: 1 })
  if (created !== undefined && createdWith(created, 'folder') === createdWith(scenario.created, 'folder')) return
  scenario.retire()
  throw unknownScenario(scenario.name)
}

/** A release that an engine here refuses is not served: the process that landed it publishes the previous one again. */
async function serveHead(services: Services, scenario: Scenario): Promise<void> {
  try {
    await load(services, scenario, scenario.history.head.row.release, null, () => scenario.settle())
  } catch (error) {
    services.warn('a release that landed elsewhere could not be loaded', error)
    if (scenario.surface.weights !== undefined && !isEngineAway(error)) return
  }
  scenario.settle()
}
