/** Makes a scenario's first release and row, and binds a scenario's rows to its recipe. */
import {
  invalid,
  unavailable,
  unknown,
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
import { headOf } from '../releases/index.ts'
import { createdWith } from './creation.ts'
import type { ScenarioFiles } from './files.ts'
import type { ModelSettings } from './model.ts'
import { reach } from './reach.ts'
import { publishedRow } from './row.ts'
import { Scenario } from './scenario.ts'

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
  /** Something went wrong beside a request, after its answer no longer depends on it. */
  warn(message: string, error: unknown): void
}
export interface ConfiguredRecipe {
  readonly recipe: Recipe
  readonly config: JsonObject
  readonly trainingMode: TrainingMode
}

export interface NewScenario {
  /** The release to start from; null for the recipe's seed. */
  readonly release: string | null
  /** One of the deployment's recipes; null for the default one. */
  readonly recipe: string | null
}

const COMMITS_PER_READ = 1000

/** Content, then the row, then the pointer: the row is the point where the scenario exists. */
export async function createScenario(house: Household, name: string, wish: NewScenario, own: ModelSettings | null): Promise<void> {
  const recipeName = wish.recipe ?? house.defaultRecipe
  const { recipe } = recipeOf(house, recipeName, () =>
    invalid(
      'unknown_recipe',
      `recipe: ${JSON.stringify(recipeName)} is not configured here; there are: ${[...house.recipes.keys()].join(', ')}`,
    ),
  )
  const release = wish.release === null ? await seedRelease(house, recipe) : await existingRelease(house, wish.release)
  const state = { recipe: recipeName, folder: house.newId() }
  const created = publishedRow(release, { step: 0, operation: 'create', recorded_at: house.clock(), state })
  if (own !== null) await house.files.writeModel(created, own)
  await house.store.scenario(name).commit(created)
  pointBeside(house, name, release)
}

/** The pointer is derived from the rows and loading repeats it, so no request waits for it. */
export function pointBeside(house: Household, name: string, release: Release): void {
  house.contents.point(name, release).catch((error: unknown) => house.warn('a scenario could not be pointed at its release', error))
}

/** The same for every scenario of an equal seed: nothing in it depends on who starts from it, or when. */
async function seedRelease(house: Household, recipe: Recipe): Promise<Release> {
  const content = await reach(house.contents.write({ kind: 'files', files: recipe.seed ?? {} }))
  return reach(house.contents.seal(content, null, { step: 0, operation: 'create', at: 0 }))
}

async function existingRelease(house: Household, releaseId: string): Promise<Release> {
  const release = await reach(house.contents.find(releaseId))
  if (release === null)
    throw unknown('unknown_release', 'release_id: names no release of this deployment; the releases of a scenario list those there are')
  return release
}

export async function bindScenario(house: Household, name: string, chosenMode: TrainingMode | undefined): Promise<Scenario> {
  const store = house.store.scenario(name)
  const commits = await allCommits(house, name)
  const [created] = commits
  if (created === undefined) throw unavailable('store_damaged', `scenario ${JSON.stringify(name)} has no creation row; run svc verify`)
  const recipeName = createdWith(created, 'recipe')
  const { recipe, config, trainingMode } = recipeOf(house, recipeName, () =>
    unavailable(
      'recipe_missing',
      `scenario ${JSON.stringify(name)} runs recipe ${recipeName}, which is not configured; add it under recipes`,
    ),
  )
  const scope = {
    scenario: name,
    config,
    runtime: house.runtime,
    ...(house.gateway !== null && { gateway: house.gateway }),
    evaluation: house.evaluation(name),
    directory: house.files.folderOf(created),
  }
  const modelSettings = await house.files.readModel(created)
  const binding = await recipe.bind(scope)
  pointBeside(house, name, headOf(commits))
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
  } catch (error) {
    await binding.close()
    throw error
  }
  return scenario
}

async function allCommits(house: Household, name: string): Promise<readonly Commit[]> {
  const store = house.store.scenario(name)
  const commits: Commit[] = []
  for (;;) {
    const after = commits.at(-1)?.step ?? -1
    const page = await store.commits({ after, limit: COMMITS_PER_READ })
    commits.push(...page)
    if (page.length < COMMITS_PER_READ) return commits
  }
}

function recipeOf(house: Household, name: string, refuse: () => Error): ConfiguredRecipe {
  const configured = house.recipes.get(name)
  if (configured === undefined) throw refuse()
  return configured
}
