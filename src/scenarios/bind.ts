/** Binds a scenario's rows to its recipe, and lets go of it again. */
import {
  BIND_SECONDS_MAX,
  CLOSE_SECONDS_MAX,
  isRefusal,
  unavailable,
  type Binding,
  type Commit,
  type JsonObject,
  type ScenarioScope,
  type TrainingMode,
} from '../contract/index.ts'
import { within } from '../kit/index.ts'
import { headOf, heldReleases } from '../releases/index.ts'
import { createdWith } from './creation.ts'
import { recipeOf, type Household } from './household.ts'
import { hold, point } from './land.ts'
import { reach } from './reach.ts'
import { remembered } from './remembered.ts'
import { Scenario } from './scenario.ts'
import { landShipped } from './shipped.ts'
import { makeWorkers, type TrainingCircumstances } from './workers.ts'

const COMMITS_PER_READ = 100

export async function bindScenario(
  house: Household,
  name: string,
  chosenMode: TrainingMode | undefined,
  training: TrainingCircumstances,
): Promise<Scenario> {
  const store = house.store.scenario(name)
  const commits = await allCommits(house, name)
  const [created] = commits
  if (created === undefined) throw unavailable('store_damaged', `scenario ${JSON.stringify(name)} has no creation row; run svc verify`)
  const recipeName = createdWith(created, 'recipe')
  const configured = recipeOf(house, recipeName, () =>
    unavailable(
      'recipe_missing',
      `scenario ${JSON.stringify(name)} runs recipe ${recipeName}, which is not configured; add it under recipes`,
    ),
  )
  const { recipe, config, trainingMode } = configured
  const scope = scopeOf(house, name, config, created)
  const modelSettings = await house.files.readModel(created)
  const binding = await bound(recipeName, () => recipe.bind(scope))
  const scenario = new Scenario({
    name,
    recipeName,
    recipe,
    binding,
    store,
    commits,
    created,
    deploymentModel: house.model,
    modelSettings,
    trainingMode: chosenMode ?? trainingMode,
  })
  try {
    scenario.checkMode(scenario.trainingMode)
    const workers = makeWorkers(house, scenario, configured, training)
    await scenario.load(scenario.head())
    scenario.useWorkers(workers)
  } catch (error) {
    await letGo(house, binding)
    throw isRefusal(error) ? error : recipeFailed(recipeName, error)
  }
  finishLanding(house, scenario)
  await landShipped(house, scenario)
  return scenario
}

/** What a recipe is given to work with. */
function scopeOf(house: Household, scenario: string, config: JsonObject, created: Commit): ScenarioScope {
  return {
    scenario,
    config,
    runtime: house.runtime,
    ...(house.gateway !== null && { gateway: house.gateway }),
    evaluation: house.evaluation(scenario),
    directory: house.files.folderOf(created),
    read: (contentId) => reach(house.contents.read(contentId)),
  }
}

/** The folders that the recipe of a scenario keeps for it elsewhere, also while it is not loaded. A recipe that cannot say takes none along. */
export async function foldersOf(house: Household, name: string, created: Commit): Promise<readonly string[]> {
  try {
    const recipeName = createdWith(created, 'recipe')
    const { recipe, config } = recipeOf(house, recipeName, () => recipeFailed(recipeName, new Error('it is not configured')))
    const binding = await bound(recipeName, () => recipe.bind(scopeOf(house, name, config, created)))
    await letGo(house, binding)
    return binding.folders ?? []
  } catch (error) {
    house.warn('the folders of a deleted scenario could not be asked for and stay where they are', error)
    return []
  }
}

/** Nobody waits for long for a recipe that does not let go. */
export async function letGo(house: Household, binding: Binding): Promise<void> {
  const closing = async (): Promise<void> => binding.close()
  await within(CLOSE_SECONDS_MAX, closing()).catch((error: unknown) => house.warn('a recipe did not let go of its scenario', error))
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
function finishLanding(house: Household, { name, commits, lane }: Scenario): void {
  void lane.run(async () => {
    await Promise.all([point(house, name, headOf(commits)), ...heldReleases(commits).map((release) => hold(house, release))])
  })
}

async function allCommits(house: Household, name: string): Promise<readonly Commit[]> {
  const store = house.store.scenario(name)
  let commits: readonly Commit[] = []
  for (;;) {
    const page = await store.commits({ after: commits.at(-1)?.step ?? -1, limit: COMMITS_PER_READ })
    if (page.length === 0) return commits
    commits = remembered(commits, page)
  }
}
