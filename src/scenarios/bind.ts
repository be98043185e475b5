/** Makes a scenario's first release and row, and binds a scenario's rows to its recipe. */
import {
  BIND_SECONDS_MAX,
  CLOSE_SECONDS_MAX,
  invalid,
  isRefusal,
  unavailable,
  unknown,
  type Binding,
  type Commit,
  type ContentStore,
  type Gateway,
  type JsonObject,
  type ModelAddress,
  type Recipe,
  type Release,
  type Runtime,
  type Store,
  type TrainingMode,
} from '../contract/index.ts'
import { headOf, heldReleases } from '../releases/index.ts'
import type { Budgets, StepLimits, TrainerAddress, TrainerHost, WeightLane } from '../training/index.ts'
import { adopt, componentsOf, writeSeed } from './composed.ts'
import { createdWith } from './creation.ts'
import type { ScenarioFiles } from './files.ts'
import { hold, point, seal } from './land.ts'
import type { ModelSettings } from './model.ts'
import { reach } from './reach.ts'
import { remembered } from './remembered.ts'
import { Scenario } from './scenario.ts'
import { within } from './within.ts'
import { makeWorkers, type TrainingCircumstances } from './workers.ts'

/** Everything scenarios are made of, shared by all of them. */
export interface Household {
  readonly store: Store
  readonly contents: ContentStore
  readonly files: ScenarioFiles
  readonly recipes: ReadonlyMap<string, ConfiguredRecipe>
  readonly defaultRecipe: string
  readonly runtime: Runtime
  readonly gateway: Gateway | null
  readonly model: ModelAddress
  readonly clock: () => number
  readonly newId: () => string
  /** The evaluation routes of that scenario, with the token that opens them alone. */
  evaluation(scenario: string): ModelAddress
  /** Where trainers run: in threads of their own, or in the one weight lane. */
  readonly hosts: { readonly own: TrainerHost; readonly weights: WeightLane }
  /** A training step of that scenario settled. */
  stepped(scenario: string, commit: Commit): void
  /** Something went wrong beside a request, after its answer no longer depends on it. */
  warn(message: string, error: unknown): void
}
export interface ConfiguredRecipe {
  readonly recipe: Recipe
  /** Where the recipe comes from, for whoever must load it again elsewhere. */
  readonly plugin: TrainerAddress['plugin']
  readonly config: JsonObject
  readonly trainingMode: TrainingMode
  readonly budgets: Budgets
  readonly limits: StepLimits
}

export interface NewScenario {
  /** The release to start from; null for the recipe's seed. */
  readonly release: string | null
  /** One of the deployment's recipes; null for the default one. */
  readonly recipe: string | null
}

const COMMITS_PER_READ = 100

/** Content, then the row, which is the point where the scenario exists. Loading it points at its release. */
export async function createScenario(house: Household, name: string, wish: NewScenario, own: ModelSettings | null): Promise<void> {
  const recipeName = wish.recipe ?? house.defaultRecipe
  const { recipe, config } = recipeOf(house, recipeName, () =>
    invalid(
      'unknown_recipe',
      `recipe: ${JSON.stringify(recipeName)} is not configured here; there are: ${[...house.recipes.keys()].join(', ')}`,
    ),
  )
  const components = componentsOf(recipe, config)
  const release = await (wish.release === null ? seedRelease(house, recipe, components) : existingRelease(house, wish.release, components))
  const state = { recipe: recipeName, folder: house.newId() }
  const created: Commit = { ...FIRST_ROW, recorded_at: house.clock(), release, state }
  if (own !== null) await house.files.writeModel(created, own)
  await house.store.scenario(name).commit(created)
}

const FIRST_ROW = { step: 0, operation: 'create', pending: false, outcome: 'published', consumed_ids: [], metrics: {} } as const

/** The same for every scenario of an equal seed: nothing in it depends on who starts from it, or when. */
async function seedRelease(house: Household, recipe: Recipe, components: readonly string[]): Promise<Release> {
  const contents = await writeSeed(house, components, recipe.seed ?? {})
  return seal(house, contents, null, { step: 0, operation: 'create', at: 0 })
}

async function existingRelease(house: Household, releaseId: string, components: readonly string[]): Promise<Release> {
  const release = await reach(house.contents.find(releaseId))
  if (release !== null) return adopt(house, components, release)
  throw unknown('unknown_release', 'release_id: names no release of this deployment; the releases of a scenario list those there are')
}

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
  const scope = {
    scenario: name,
    config,
    runtime: house.runtime,
    ...(house.gateway !== null && { gateway: house.gateway }),
    evaluation: house.evaluation(name),
    directory: house.files.folderOf(created),
    read: (contentId: string) => reach(house.contents.read(contentId)),
  }
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
    throw error
  }
  finishLanding(house, scenario)
  return scenario
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
    if (isRefusal(cause)) throw cause
    throw unavailable('recipe_failed', `recipe ${recipeName} could not be bound; the log of the service says why`, { cause })
  }
}

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

function recipeOf(house: Household, name: string, refuse: () => Error): ConfiguredRecipe {
  const configured = house.recipes.get(name)
  if (configured === undefined) throw refuse()
  return configured
}
