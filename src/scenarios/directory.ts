/** What the store says of scenarios: which exist, what they were created with, and whether there is room for one more. */
import { conflict, type Commit } from '../contract/index.ts'
import { Lane } from '../kit/index.ts'
import { createdWith } from './files.ts'
import type { Services } from './services.ts'

export class Directory {
  readonly #store: Services['store']
  readonly #most: number
  /** The recipe never changes while the scenario exists. */
  readonly #recipes = new Map<string, string>()
  /** Scenarios that are being created; they count towards the limit. */
  readonly #creating = new Set<string>()
  /** The names are read and counted one caller at a time. */
  readonly #counting = new Lane()

  constructor({ store }: Pick<Services, 'store'>, most: number) {
    this.#store = store
    this.#most = most
  }

  async names(): Promise<readonly string[]> {
    return (await this.#store.scenarios()).toSorted()
  }

  /** The creation row; undefined where there is no such scenario. */
  async creationRow(name: string): Promise<Commit | undefined> {
    const [created] = await this.#store.scenario(name).commits({ after: -1, limit: 1 })
    return created
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

  forget(name: string): void {
    this.#recipes.delete(name)
  }

  /** Runs the creation of a scenario, unless as many exist or are being created as the deployment may hold. */
  async inRoom<T>(name: string, create: () => Promise<T>): Promise<T> {
    await this.#counting.run(() => this.#reserve(name))
    try {
      return await create()
    } finally {
      // Not while names are being read: the new one could be missing from both.
      await this.#counting.run(async () => void this.#creating.delete(name))
    }
  }

  async #reserve(name: string): Promise<void> {
    const names = await this.#store.scenarios()
    if (new Set([...names, ...this.#creating]).size >= this.#most)
      throw conflict('too_many_scenarios', `this deployment holds at most ${this.#most} scenarios; delete one or raise svc.max_scenarios`)
    this.#creating.add(name)
  }
}
