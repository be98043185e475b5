/** One loaded scenario: its binding, its store, and the projections of its commit rows. */
import {
  unknown,
  unsupported,
  type Binding,
  type Commit,
  type ModelAddress,
  type NewRecord,
  type Processor,
  type Recipe,
  type RecordRow,
  type Release,
  type Runtime,
  type ScenarioStore,
  type Surface,
  type TrainingMode,
} from '../contract/index.ts'
import { Lane } from '../kit/index.ts'
import { catalogOf, headOf, type ReleaseRow } from '../releases/index.ts'
import { modelAddress, type ModelSettings } from './model.ts'

export interface ScenarioParts {
  readonly name: string
  readonly recipeName: string
  readonly recipe: Recipe
  readonly binding: Binding
  readonly store: ScenarioStore
  readonly commits: readonly Commit[]
  readonly created: Commit
  readonly deploymentModel: ModelAddress
  readonly modelSettings: ModelSettings | null
  readonly trainingMode: TrainingMode
}

/** A scenario as one evaluation call sees it: the served model, without the hooks of what is being evaluated, kept by nobody. */
export interface EvaluationServing {
  readonly surface: Surface
  readonly runtime: Runtime
  readonly model: ModelAddress
  head(): Release
  hasRelease(releaseId: string): boolean
}

export class Scenario {
  readonly name: string
  readonly recipeName: string
  readonly recipe: Recipe
  readonly binding: Binding
  readonly created: Commit
  /** Whatever appends to the chain takes its turn here. */
  readonly lane = new Lane()
  readonly keep: (record: NewRecord) => Promise<readonly RecordRow[]>
  readonly #store: ScenarioStore
  readonly #deploymentModel: ModelAddress
  #commits: readonly Commit[] = []
  #head: Release
  #releaseIds: ReadonlySet<string> = new Set()
  #model: ModelAddress
  #trainingMode: TrainingMode
  #isArchived = false
  #users = 0
  readonly #onIdle: (() => void)[] = []
  #lastUse = 0

  constructor(parts: ScenarioParts) {
    this.name = parts.name
    this.recipeName = parts.recipeName
    this.recipe = parts.recipe
    this.binding = parts.binding
    this.#store = parts.store
    this.created = parts.created
    this.keep = (record) => this.store.append([record])
    this.#deploymentModel = parts.deploymentModel
    this.#head = headOf(parts.commits)
    this.#read(parts.commits)
    this.#model = modelAddress(parts.modelSettings, parts.deploymentModel)
    this.#trainingMode = parts.trainingMode
  }

  get commits(): readonly Commit[] {
    return this.#commits
  }

  /** A row that is durable counts from here on. */
  landed(commit: Commit): void {
    this.#read([...this.#commits, commit])
  }

  /** Head and catalog are read off the rows, once per change: every request asks for them. */
  #read(commits: readonly Commit[]): void {
    this.#commits = commits
    this.#head = headOf(commits)
    this.#releaseIds = new Set(commits.flatMap(({ release }) => (release === null ? [] : [release.release_id])))
  }

  /** Rows are found by name, and the name of an archived scenario may be another's by now. */
  get store(): ScenarioStore {
    if (this.#isArchived) throw unknownScenario(this.name)
    return this.#store
  }

  /** From here on nothing that is still under way reads or keeps anything. */
  retire(): void {
    this.#isArchived = true
  }

  get surface(): Surface {
    return this.binding.surface
  }

  get runtime(): Runtime {
    return this.binding.runtime
  }

  get model(): ModelAddress {
    return this.#model
  }

  useModel(own: ModelSettings | null): void {
    this.#model = modelAddress(own, this.#deploymentModel)
  }

  get trainingMode(): TrainingMode {
    return this.#trainingMode
  }

  /** Checks without changing: a mode that the processors do not run is unsupported here. */
  checkMode(mode: TrainingMode): void {
    const refusing = this.processors.find(([, processor]) => !processor.modes.includes(mode))
    if (refusing === undefined) return
    const modes = refusing[1].modes.join(', ')
    throw unsupported('unsupported_mode', `recipe ${this.recipeName} does not run in ${mode} mode; it runs in: ${modes}`)
  }

  useMode(mode: TrainingMode): void {
    this.checkMode(mode)
    this.#trainingMode = mode
  }

  get processors(): readonly (readonly [string, Processor])[] {
    return Object.entries(this.binding.processors)
  }

  head(): Release {
    return this.#head
  }

  /** The release the scenario was bound to when it was created. */
  get start(): string {
    return this.created.release?.release_id ?? ''
  }

  hasRelease(releaseId: string): boolean {
    return this.#releaseIds.has(releaseId)
  }

  catalog(): readonly ReleaseRow[] {
    return catalogOf(this.commits)
  }

  /** A candidate is played without its own hooks; a component's candidate with every other component's. */
  evaluation(component: string | null): EvaluationServing {
    if (component !== null && this.head().components?.[component] === undefined)
      throw unknown('unknown_component', `scenario ${JSON.stringify(this.name)} serves no component of that name`)
    const { runtime, model } = this
    return { surface: {}, runtime, model, head: () => this.head(), hasRelease: (id) => this.hasRelease(id) }
  }

  get isIdle(): boolean {
    return this.#users === 0
  }

  /** Resolves once nobody works with it. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onIdle.push(resolve)
    })
  }

  get lastUse(): number {
    return this.#lastUse
  }

  /** Nothing unloads a scenario while somebody works with it. */
  async use<T>(work: (scenario: Scenario) => Promise<T>): Promise<T> {
    this.#users += 1
    try {
      return await work(this)
    } finally {
      this.#users -= 1
      this.#lastUse = performance.now()
      if (this.#users === 0) for (const resolve of this.#onIdle.splice(0)) resolve()
    }
  }
}

export function unknownScenario(name: string): Error {
  return unknown('unknown_scenario', `scenario ${JSON.stringify(name)} does not exist; GET /svc/scenarios lists those that do`)
}
