/** Binds a scenario's rows to its recipe, and lets go of it again. */
import {
  BIND_SECONDS_MAX,
  CLOSE_SECONDS_MAX,
  ENGINE_UNREACHABLE,
  isRefusal,
  unavailable,
  type Binding,
  type Commit,
  type JsonObject,
  type Refusal,
  type Release,
  type ScenarioScope,
  type ScenarioStore,
  type TrainingMode,
} from '../contract/index.ts'
import { within } from '../kit/index.ts'
import { heldReleases, isRestorable } from '../releases/index.ts'
import { createdWith } from './creation.ts'
import { COMMITS_PER_READ, History } from './history.ts'
import { recipeOf, type Services } from './services.ts'
import { hold, keptAt, load, point, takeBack } from './land.ts'
import { reach } from './reach.ts'
import { Scenario } from './scenario.ts'
import { landShipped } from './shipped.ts'
import { makeWorkers, type TrainingCircumstances } from './workers.ts'

export async function bindScenario(
  services: Services,
  name: string,
  chosenMode: TrainingMode | undefined,
  training: TrainingCircumstances,
): Promise<Scenario> {
  const store = services.store.scenario(name)
  const [created] = await store.commits({ after: -1, limit: 1 })
  if (created === undefined) throw unavailable('store_damaged', `scenario ${JSON.stringify(name)} has no creation row; run svc verify`)
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
  const binding = await bound(recipeName, () => recipe.bind(scope))
  const history = new History(binding.surface.files?.component)
  await followRows(store, history)
  const scenario = new Scenario({
    name,
    recipeName,
    recipe,
    binding,
    store,
    history,
    created,
    deploymentModel: services.model,
    modelSettings,
    trainingMode: chosenMode ?? trainingMode,
  })
  try {
    scenario.checkMode(scenario.trainingMode)
    const workers = makeWorkers(services, scenario, configured, training)
    await loadHead(services, scenario)
    scenario.useWorkers(workers)
  } catch (error) {
    await letGo(services, binding)
    throw isRefusal(error) ? error : recipeFailed(recipeName, error)
  }
  finishLanding(services, scenario)
  await landShipped(services, scenario)
  return scenario
}

/**
 * Weights that lived in an engine may be gone with it, or what is left of them may be damaged: then the last checkpoint is published again,
 * and a row says so. An engine that is away keeps its requests waiting alone: whatever else a scenario does goes on.
 */
async function loadHead(services: Services, scenario: Scenario): Promise<void> {
  const head = scenario.head()
  try {
    await load(services, scenario, head)
  } catch (error) {
    if (isRefusal(error) && error.code === ENGINE_UNREACHABLE)
      return services.warn('the engine is away; its weights are loaded later', error)
    if (!isRefusal(error) || !isLost(head, error)) throw error
    services.warn('weights that lived in an engine are gone; the last checkpoint is served', error)
    await takeBack(services, scenario, keptAt(scenario, head), error.message)
  }
}

function isLost({ release_id }: Release, { code, kind }: Refusal): boolean {
  return code === 'live_weights_gone' || (!isRestorable(release_id) && (kind === 'invalid' || kind === 'conflict'))
}

/** What a recipe is given to work with. */
function scopeOf(services: Services, scenario: string, config: JsonObject, created: Commit): ScenarioScope {
  return {
    scenario,
    config,
    runtime: services.runtime,
    ...(services.gateway !== null && { gateway: services.gateway }),
    evaluation: services.evaluation(scenario),
    directory: services.files.folderOf(created),
    read: (contentId) => reach(services.contents.read(contentId)),
  }
}

/** Of a scenario that is not loaded: whoever trains for it elsewhere is told that it goes, and what it keeps elsewhere is asked for. A recipe that cannot say takes nothing along. */
export async function part(services: Services, name: string, created: Commit): Promise<readonly string[]> {
  try {
    const recipeName = createdWith(created, 'recipe')
    const { recipe, config } = recipeOf(services, recipeName, () => recipeFailed(recipeName, new Error('it is not configured')))
    const binding = await bound(recipeName, () => recipe.bind(scopeOf(services, name, config, created)))
    await retire(services, binding)
    await letGo(services, binding)
    return binding.folders ?? []
  } catch (error) {
    services.warn('the folders of a deleted scenario could not be asked for and stay where they are', error)
    return []
  }
}

/** The scenario goes whether or not whoever trains for it elsewhere hears of it. */
export async function retire(services: Services, binding: Binding): Promise<void> {
  const telling = async (): Promise<void> => binding.retire?.()
  await within(CLOSE_SECONDS_MAX, telling()).catch((error: unknown) =>
    services.warn('a trainer was not told that its scenario is gone', error),
  )
}

/** Nobody waits for long for a recipe that does not let go. */
export async function letGo(services: Services, binding: Binding): Promise<void> {
  const closing = async (): Promise<void> => binding.close()
  await within(CLOSE_SECONDS_MAX, closing()).catch((error: unknown) => services.warn('a recipe did not let go of its scenario', error))
}

/** A recipe that throws or never answers keeps its own scenario from being loaded, and nobody else's. One that answers late is let go of. */
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

/** What a crash left undone after a row is done again, before anything else lands: the pointer, and the refs of releases that wait for review. */
function finishLanding(services: Services, scenario: Scenario): void {
  const { name, history, lane } = scenario
  void lane.run(async () => {
    const head = keptAt(scenario, history.head.release)
    await Promise.all([point(services, name, head), ...heldReleases(history.released).map((release) => hold(services, release))])
  })
}

/** Every row there is, a page at a time: no more than a page of them is held whole. */
async function followRows(store: ScenarioStore, history: History): Promise<void> {
  for (;;) {
    const page = await store.commits({ after: history.step, limit: COMMITS_PER_READ })
    if (page.length === 0) return
    for (const row of page) history.follow(row)
  }
}
