/** Binds a scenario's rows to its recipe, and closes the binding again. */
import { BIND_SECONDS_MAX, CLOSE_SECONDS_MAX, ENGINE_UNREACHABLE, isRefusal, unavailable } from '../contract/index.ts'
import type { Binding, Commit, JsonObject, Refusal, Release, ScenarioScope } from '../contract/index.ts'
import { within } from '../kit/index.ts'
import { isRestorable } from '../releases/index.ts'
import { archiveFolder, createdWith, heldStart } from './files.ts'
import { inLandingLane, noteStep } from './elsewhere.ts'
import { COMMITS_PER_READ } from './history.ts'
import { reviewImported } from './imported.ts'
import { readHistory } from './read-history.ts'
import { reach, recipeOf, type Services } from './services.ts'
import { composeWith, contentOf } from './composed.ts'
import { hold, reviewRelease, landRow, load, point, republish } from './land.ts'
import { watchProvisional } from './live-test.ts'
import { Scenario } from './scenario.ts'
import { existingRelease, heldAtStart } from './start.ts'
import { planWorkers, type TrainingCircumstances } from './workers.ts'

export async function bindScenario(services: Services, name: string, created: Commit, training: TrainingCircumstances): Promise<Scenario> {
  const store = services.store.scenario(name)
  const recipeName = createdWith(created, 'recipe')
  const configured = recipeOf(services, recipeName, () =>
    unavailable(
      'recipe_missing',
      `scenario ${JSON.stringify(name)} runs recipe ${recipeName}, which is not configured; add it under recipes`,
    ),
  )
  const { recipe, config, trainingMode } = configured
  const scope = scopeOf(services, name, config, created)
  const modelSettings = await services.files.readModel(created)
  const ownEvolution = await services.files.readEvolution(created)
  const { training_mode: chosen } = await store.settings()
  const binding = await bound(recipeName, () => recipe.bind(scope))
  const history = await readHistory(store, binding.surface.files?.component).catch(async (error: unknown) => {
    await closeBinding(services, binding)
    throw error
  })
  const scenario = new Scenario({
    name,
    recipeName,
    recipe,
    binding,
    store,
    recorder: services.recorder,
    history,
    created,
    deploymentModel: () => services.model,
    modelSettings,
    ownEvolution,
    trainingMode: chosen ?? trainingMode,
    noteStep: (noted, step) => noteStep(services, noted, step),
  })
  try {
    scenario.checkMode(scenario.trainingMode)
    const makeWorkers = planWorkers(services, scenario, configured, training)
    await loadHead(services, scenario)
    scenario.makeWorkers = makeWorkers
  } catch (error) {
    await closeBinding(services, binding)
    throw isRefusal(error) ? error : recipeFailed(recipeName, error)
  }
  finishLanding(services, scenario)
  await holdStart(services, scenario)
  if (await reviewImported(services, scenario)) await landShipped(services, scenario)
  watchProvisional(services, scenario)
  return scenario
}

/**
 * Weights that lived only in an engine may be lost or damaged. Then the last checkpoint is published again, and a row says why. An engine
 * that cannot be reached delays only its own requests: the scenario still loads.
 */
async function loadHead(services: Services, scenario: Scenario): Promise<void> {
  const head = scenario.head()
  try {
    await load(services, scenario, head)
  } catch (error) {
    if (isRefusal(error) && error.code === ENGINE_UNREACHABLE)
      return services.warn('the engine is away; its weights are loaded later', error)
    if (!isRefusal(error) || !isLost(head, error)) throw error
    services.warn('weights that lived only in an engine are lost; the last checkpoint is served', error)
    await republish(services, scenario, await scenario.releases.lastKept(head), error.message)
  }
}

function isLost({ release_id }: Release, { code, kind }: Refusal): boolean {
  return code === 'live_weights_gone' || (!isRestorable(release_id) && (kind === 'invalid' || kind === 'conflict'))
}

function scopeOf(services: Services, scenario: string, config: JsonObject, created: Commit): ScenarioScope {
  const documents = services.files.sharedOf(created)
  return {
    scenario,
    config,
    runtime: services.runtime,
    ...(services.gateway !== null && { gateway: services.gateway }),
    evaluation: services.evaluation(scenario),
    directory: services.files.folderOf(created),
    ...(documents !== undefined && { documents }),
    read: (contentId) => reach(services.contents.read(contentId)),
  }
}

/** Binds an unloaded scenario once more to retire it, and answers the folders it keeps elsewhere; none when its recipe fails. */
export async function releaseUnloaded(services: Services, name: string, created: Commit): Promise<readonly string[]> {
  try {
    const recipeName = createdWith(created, 'recipe')
    const { recipe, config } = recipeOf(services, recipeName, () => recipeFailed(recipeName, new Error('it is not configured')))
    const binding = await bound(recipeName, () => recipe.bind(scopeOf(services, name, config, created)))
    await retireBinding(services, binding)
    await closeBinding(services, binding)
    return binding.folders ?? []
  } catch (error) {
    services.warn('the folders of a deleted scenario are unknown and stay where they are', error)
    return []
  }
}

/** The scenario is already archived, so a folder that cannot be moved is only logged. */
export async function archiveFolders(services: Services, folders: readonly string[]): Promise<void> {
  const stay = (error: unknown): void => services.warn('a folder of a deleted scenario could not be moved', error)
  for (const folder of folders) await archiveFolder(folder, services.newId()).catch(stay)
}

/** Deleting a scenario does not depend on its external trainer being notified. */
export async function retireBinding(services: Services, binding: Binding): Promise<void> {
  const retiring = async (): Promise<void> => binding.retire?.()
  await within(CLOSE_SECONDS_MAX, retiring()).catch((error: unknown) =>
    services.warn('a trainer could not be notified that its scenario was deleted', error),
  )
}

/** A recipe that does not close in time is abandoned. */
export async function closeBinding(services: Services, binding: Binding): Promise<void> {
  const closing = async (): Promise<void> => binding.close()
  await within(CLOSE_SECONDS_MAX, closing()).catch((error: unknown) => services.warn('a recipe did not close its scenario', error))
}

/** A recipe that throws or hangs keeps only its own scenarios from loading. A binding that arrives late is closed. */
async function bound(recipeName: string, bind: () => Promise<Binding>): Promise<Binding> {
  const { promise: binding, resolve, reject } = Promise.withResolvers<Binding>()
  try {
    bind().then(resolve, reject)
    return await within(BIND_SECONDS_MAX, binding)
  } catch (cause) {
    binding.then((late) => late.close()).catch(() => undefined)
    throw isRefusal(cause) ? cause : recipeFailed(recipeName, cause)
  }
}

const recipeFailed = (recipeName: string, cause: unknown): Error =>
  unavailable('recipe_failed', `recipe ${recipeName} could not be bound; the log of the service says why`, { cause })

/** Redoes what a crash left undone after the last row: the pointer, and the refs of the newest releases held for review. */
function finishLanding(services: Services, scenario: Scenario): void {
  const { name, history, releases, lane } = scenario
  const finishing = lane.run(async () => {
    // Before anything else is read: a read that fails must not keep the pointer back.
    await point(services, name, await releases.lastKept(history.head.row.release))
    const held = await releases.page({ before: history.step + 1, limit: COMMITS_PER_READ, only: 'held' })
    await Promise.all(held.map(({ release }) => hold(services, release)))
  })
  void finishing.catch((error: unknown) => services.warn('the refs of a scenario could not be set again', error))
}

/** Publishes a newer version of the content that the service ships, as a release without a batch. Loading waits for it, so that clients never pull outdated content. */
async function landShipped(services: Services, scenario: Scenario): Promise<void> {
  const { files } = scenario.surface
  if (files?.shipped === undefined) return
  const { component = '' } = files
  const landing = inLandingLane(services, scenario, async () => {
    const head = scenario.head()
    const served = await reach(services.contents.read(contentOf(head, component) ?? head.content_id))
    const update = files.shipped?.(served) ?? null
    if (update === null) return
    const written = await reach(services.contents.write({ kind: 'files', files: update.content }))
    const metrics = { shipped_content_update: { entries: update.entries } }
    const row = { operation: 'shipped', outcome: 'published', consumed_ids: [], metrics, state: {} } as const
    await landRow(services, scenario, row, await composeWith(services, head, component, written))
  })
  await landing.catch((error: unknown) => services.warn('the content shipped with the service could not be published', error))
}

/** The row of a starting release that waits for review. Written when the scenario is first loaded, so that no crash loses it. */
async function holdStart(services: Services, scenario: Scenario): Promise<void> {
  const named = heldStart(scenario.created)
  if (named === null || (await scenario.hasRelease(named))) return
  const landing = inLandingLane(services, scenario, async () => {
    const release = await existingRelease(services, named, Object.keys(scenario.head().components ?? {}))
    const metrics = (await heldAtStart(services, scenario.recipeName, release)) ?? {}
    const row = { operation: 'create', outcome: 'pending', consumed_ids: [], metrics, state: {} } as const
    await reviewRelease(services, scenario, row, release)
  })
  await landing.catch((error: unknown) => services.warn('the release that a scenario is to start from could not be held', error))
}
