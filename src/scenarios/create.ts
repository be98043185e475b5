import { countCodePoints } from '../kit/index.ts'
import { conflict, invalid, isStepConflict, SCENARIO_NAME_CHARACTERS_MAX } from '../contract/index.ts'
import type { Commit, Recipe, Release, ModelSettings } from '../contract/index.ts'
import { componentsOf, writeSeed } from './composed.ts'
import { recipeOf, type Services } from './services.ts'
import { seal } from './land.ts'
import type { Scenario } from './scenario.ts'
import { existingRelease, heldAtStart } from './start.ts'

export interface NewScenario {
  /** The release to start from; null for the recipe's seed. */
  readonly release: string | null
  /** A configured recipe; null for the default one. */
  readonly recipe: string | null
}

/**
 * Creates a scenario: writes the content, then the row that is its commit point. Loading sets the pointer. Answers the row, or undefined
 * when another process created a scenario of that name in the same moment.
 */
export async function createScenario(
  services: Services,
  name: string,
  options: NewScenario,
  own: ModelSettings | null,
): Promise<Commit | undefined> {
  const recipeName = options.recipe ?? services.defaultRecipe
  const configured = recipeOf(services, recipeName, () =>
    invalid(
      'unknown_recipe',
      `recipe: ${JSON.stringify(recipeName)} is not configured here; there are: ${[...services.recipes.keys()].join(', ')}`,
    ),
  )
  const { recipe } = configured
  const components = componentsOf(configured)
  const named = options.release === null ? null : await existingRelease(services, options.release, components)
  const isHeld = named !== null && (await heldAtStart(services, recipeName, named)) !== null
  const release = named === null || isHeld ? await seedRelease(services, recipe, components) : named
  const store = services.store.scenario(name)
  const state = {
    recipe: recipeName,
    folder: services.newId(),
    ...((await store.hadEarlier()) && { later: true }),
    ...(isHeld && { start: named.release_id }),
  }
  const created: Commit = { ...FIRST_ROW, recorded_at: services.clock(), release, state }
  if (own !== null) await services.files.writeModel(created, own)
  try {
    await store.commit(created)
    return created
  } catch (error) {
    if (!isStepConflict(error)) throw error
    // No row names the folder, and the file may hold a key.
    if (own !== null) await services.files.writeModel(created, null)
    return undefined
  }
}

/** Throws where the options contradict an existing scenario. */
export function checkOptions({ name, start, recipeName }: Scenario, { release, recipe }: NewScenario): void {
  if (release !== null && release !== start)
    throw conflict(
      'other_release',
      `scenario ${JSON.stringify(name)} was bound to another starting release; leave the release out, or use another scenario`,
    )
  if (recipe !== null && recipe !== recipeName)
    throw conflict('other_recipe', `scenario ${JSON.stringify(name)} runs recipe ${recipeName}; a recipe is fixed at creation`)
}

const FIRST_ROW = { step: 0, operation: 'create', pending: false, outcome: 'published', consumed_ids: [], metrics: {} } as const

/** Depends on the seed alone, so scenarios of an equal seed share one release. */
async function seedRelease(services: Services, recipe: Recipe, components: readonly string[]): Promise<Release> {
  const contents = await writeSeed(services, components, recipe.seed ?? {})
  return seal(services, contents, null, { step: 0, operation: 'create', at: 0 })
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f/]/

/** Answers the trimmed name, or throws a refusal that says where the name came from. */
export function scenarioName(text: string, from: string): string {
  const name = text.trim()
  const isAllowed = name !== '' && name !== '.' && name !== '..' && !FORBIDDEN.test(name) && name.isWellFormed()
  if (isAllowed && countCodePoints(name) <= SCENARIO_NAME_CHARACTERS_MAX) return name
  throw invalid(
    'bad_scenario_name',
    `${from} must name a scenario: 1 to ${SCENARIO_NAME_CHARACTERS_MAX} characters, no control characters, no '/', not '.' or '..'`,
  )
}
