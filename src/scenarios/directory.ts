/** What the store says of scenarios: which exist, and what they were created with. Creates one while there is room. */
import { conflict, unknown, type Commit, type ModelSettings } from '../contract/index.ts'
import { Lane } from '../kit/index.ts'
import { createScenario, type NewScenario } from './create.ts'
import { createdWith } from './files.ts'
import type { Loading } from './following.ts'
import type { Scenario } from './scenario.ts'
import type { Services } from './services.ts'
import { checkRoomForWeights, trainsWeights } from './weights.ts'

export interface RegistryLimits {
  readonly implicitCreation: boolean
  readonly scenariosMax: number
  readonly loadedMax: number
}

/** Told of a scenario that was made here, before anybody uses it. */
export type ScenarioMade = (row: Commit) => Promise<void>

export class Directory {
  readonly #services: Services
  readonly #limits: RegistryLimits
  /** The recipe never changes while the scenario exists. */
  readonly #recipes = new Map<string, string>()
  /** Scenarios that are being created; they count towards the limit. */
  readonly #creating = new Set<string>()
  /** The names are read and counted one caller at a time. */
  readonly #counting = new Lane()

  /** Scenarios that train weights are created one at a time: two at once would both see the engine's last adapter slot free. */
  readonly #weightScenarios = new Lane()

  constructor(services: Services, limits: RegistryLimits) {
    this.#services = services
    this.#limits = limits
  }

  async names(): Promise<readonly string[]> {
    return (await this.#services.store.scenarios()).toSorted()
  }

  /** The creation row; undefined where there is no such scenario. */
  async creationRow(name: string): Promise<Commit | undefined> {
    const [created] = await this.#services.store.scenario(name).commits({ after: -1, limit: 1 })
    return created
  }

  /** Whether the name still belongs to the scenario with that creation row; assumed while the store does not answer. */
  async isStill(name: string, created: Commit): Promise<boolean> {
    const now = await this.creationRow(name).catch(() => created)
    return now !== undefined && createdWith(now, 'folder') === createdWith(created, 'folder')
  }

  /** Another process may archive a scenario that is being loaded here. */
  async isGone(scenario: Scenario, loading: Loading): Promise<boolean> {
    while (loading.heardArchived()) if (!(await this.isStill(scenario.name, scenario.created))) return true
    return scenario.isArchived
  }

  /** The recipe a scenario was created with; null where there is no such scenario. */
  async recipeOf(name: string): Promise<string | null> {
    const known = this.#recipes.get(name)
    if (known !== undefined) return known
    const created = await this.creationRow(name)
    if (created === undefined) return null
    const recipe = createdWith(created, 'recipe')
    this.#recipes.set(name, recipe)
    return recipe
  }

  async trains(name: string): Promise<boolean> {
    const recipe = await this.recipeOf(name)
    return recipe !== null && this.#services.recipes.get(recipe)?.recipe.trainers !== undefined
  }

  forget(name: string): void {
    this.#recipes.delete(name)
  }

  /** Answers the row of the scenario created here, or by another process in the same moment. */
  async createImplicitly(name: string, release: string | null, made?: ScenarioMade): Promise<Commit | undefined> {
    if (!this.#limits.implicitCreation)
      throw unknown('unknown_scenario', `scenario ${JSON.stringify(name)} does not exist; create it with POST /svc/scenarios`)
    const row = await this.create(name, { release, recipe: null }, null)
    if (row === undefined) return this.creationRow(name)
    await made?.(row)
    return row
  }

  /** Answers the creation row, or undefined when another process created the scenario in the same moment. */
  async create(name: string, options: NewScenario, own: ModelSettings | null): Promise<Commit | undefined> {
    const recipe = options.recipe ?? this.#services.defaultRecipe
    const create = (): Promise<Commit | undefined> => this.#inRoom(name, () => createScenario(this.#services, name, options, own))
    if (!trainsWeights(this.#services, recipe)) return create()
    return this.#weightScenarios.run(() => this.#checkWeights().then(create))
  }

  async #checkWeights(): Promise<void> {
    const recipes = await Promise.all((await this.names()).map((name) => this.recipeOf(name)))
    checkRoomForWeights(this.#services, recipes.filter((recipe) => recipe !== null && trainsWeights(this.#services, recipe)).length)
  }

  /** Runs the creation of a scenario, unless as many exist or are being created as the deployment may hold. */
  async #inRoom<T>(name: string, create: () => Promise<T>): Promise<T> {
    await this.#counting.run(() => this.#reserve(name))
    try {
      return await create()
    } finally {
      // Not while names are being read: the new one could be missing from both.
      await this.#counting.run(async () => void this.#creating.delete(name))
    }
  }

  async #reserve(name: string): Promise<void> {
    const names = await this.#services.store.scenarios()
    if (new Set([...names, ...this.#creating]).size >= this.#limits.scenariosMax)
      throw conflict(
        'too_many_scenarios',
        `this deployment holds at most ${this.#limits.scenariosMax} scenarios; delete one or raise svc.max_scenarios`,
      )
    this.#creating.add(name)
  }
}
