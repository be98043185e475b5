/** Applies what the store tells to the loaded scenarios: records to train on, and rows, settings and archives of other processes. */
import type { RequestType, StoreChange } from '../contract/index.ts'
import { noteStep } from './elsewhere.ts'
import { acknowledge } from './members.ts'
import { watchProvisional } from './live-test.ts'
import type { Scenario } from './scenario.ts'
import type { Services } from './services.ts'

export interface FollowingParts {
  /** Runs the task in the lane of that scenario name, and logs its failure. */
  inBackground(name: string, task: () => Promise<void>): void
  archived(name: string): void
  unload(name: string): Promise<void>
  /** Records came to a scenario that is not loaded. Runs in its lane. */
  appended(name: string): Promise<void>
}

/** What is told of a scenario while it is being loaded. */
export interface Loading {
  /** Whether a scenario of that name was archived since the last time this was asked: the one being loaded, or an earlier one. */
  heardArchived(): boolean
  /** May be repeated. */
  over(): void
}

type ScenarioChange = Exclude<StoreChange, { kind: 'tokens' }>

export class Following {
  readonly #services: Services
  readonly #loaded: ReadonlyMap<string, Scenario>
  readonly #parts: FollowingParts
  /** Changes told while a scenario is being loaded. */
  readonly #early = new Map<string, ScenarioChange[]>()
  /** Scenarios that are not loaded, and have records that nobody here was told of yet. */
  readonly #unseen = new Set<string>()
  readonly stop: () => void

  constructor(services: Services, loaded: ReadonlyMap<string, Scenario>, parts: FollowingParts) {
    this.#services = services
    this.#loaded = loaded
    this.#parts = parts
    this.stop = services.store.follow((change) => this.#heard(change))
  }

  /** Called before anything of the scenario is read. Changes told from then on are applied when loading is over, loaded or not. */
  beginLoad(name: string): Loading {
    const early: ScenarioChange[] = []
    this.#early.set(name, early)
    return {
      heardArchived: () => {
        const others = early.filter(({ kind }) => kind !== 'archived')
        return early.splice(0, early.length, ...others).length > others.length
      },
      over: () => {
        this.#early.delete(name)
        for (const change of early.splice(0)) this.#told(change)
      },
    }
  }

  /** The store's listener must not throw, and a recipe's processor may. */
  #heard(change: StoreChange): void {
    try {
      this.#told(change)
    } catch (error) {
      this.#services.warn('a change of a scenario could not be followed', error)
    }
  }

  #told(change: StoreChange): void {
    if (change.kind === 'tokens') return
    const { kind, scenario: name } = change
    const early = this.#early.get(name)
    if (early !== undefined) return void early.push(change)
    if (kind === 'archived') this.#parts.archived(name)
    const scenario = this.#loaded.get(name)
    if (scenario !== undefined) this.#apply(scenario, change)
    else if (kind === 'appended') this.#appendedUnloaded(name)
    else if (kind === 'landed') this.#services.store.members?.followed(name, change.step)
  }

  #apply(scenario: Scenario, change: ScenarioChange): void {
    const { name } = scenario
    if (change.kind === 'appended') this.#appended(scenario, change.types)
    if (change.kind === 'landed') {
      noteStep(this.#services, scenario, change.step)
      void acknowledge(this.#services, scenario, change.step)
    }
    if (change.kind === 'settings') this.#parts.inBackground(name, () => this.#readSettings(scenario))
    if (change.kind === 'archived') this.#retire(scenario)
  }

  /** Listener threads use a scenario without asking for it here. */
  #appended(scenario: Scenario, types: readonly RequestType[]): void {
    scenario.lastUse = performance.now()
    scenario.announce(types)
  }

  #appendedUnloaded(name: string): void {
    if (this.#unseen.has(name)) return
    this.#unseen.add(name)
    this.#parts.inBackground(name, () => {
      this.#unseen.delete(name)
      return this.#parts.appended(name)
    })
  }

  async #readSettings(scenario: Scenario): Promise<void> {
    if (!this.#isLoaded(scenario)) return
    const { training_mode: chosen } = await scenario.store.settings()
    scenario.useModel(await this.#services.files.readModel(scenario.created))
    scenario.useEvolution(await this.#services.files.readEvolution(scenario.created))
    watchProvisional(this.#services, scenario)
    const mode = chosen ?? this.#services.recipes.get(scenario.recipeName)?.trainingMode ?? scenario.trainingMode
    if (mode !== scenario.trainingMode) scenario.useMode(mode)
  }

  /** Requests in flight are refused at once; the name may soon belong to another scenario. */
  #retire(scenario: Scenario): void {
    scenario.retire()
    this.#services.views?.archived(scenario.name)
    for (const worker of scenario.workers) worker.abort()
    this.#parts.inBackground(scenario.name, async () => {
      if (this.#isLoaded(scenario)) await this.#parts.unload(scenario.name)
    })
  }

  #isLoaded(scenario: Scenario): boolean {
    return this.#loaded.get(scenario.name) === scenario
  }
}
