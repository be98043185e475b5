/** One loaded scenario: its binding, its store, and the projections of its commit rows. */
import {
  conflict,
  HEADER,
  LOAD_SECONDS_MAX,
  unknown,
  unsupported,
  WEIGHTS_LOAD_SECONDS_MAX,
  type Binding,
  type Commit,
  type CommitPage,
  type ModelAddress,
  type NewRecord,
  type Processor,
  type Recipe,
  type RecordRow,
  type Release,
  type RequestType,
  type Runtime,
  type ScenarioStore,
  type ServedWeights,
  type Surface,
  type TrainingMode,
} from '../contract/index.ts'
import { Lane, within, wordsOf } from '../kit/index.ts'
import { progressOf, type RequestProgress, type Worker } from '../training/index.ts'
import { contentOf } from './composed.ts'
import { COMMITS_PER_READ, type History } from './history.ts'
import { hooksWithout } from './hooks.ts'
import { LaneByName } from './lane-by-name.ts'
import { modelAddress, type ModelSettings } from './model.ts'

export interface ScenarioParts {
  readonly name: string
  readonly recipeName: string
  readonly recipe: Recipe
  readonly binding: Binding
  readonly store: ScenarioStore
  /** Its rows so far. */
  readonly history: History
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
  readonly surface: Surface
  /** Whatever appends to the chain takes its turn here. */
  readonly lane = new Lane()
  readonly keep: (record: NewRecord) => Promise<readonly RecordRow[]>
  readonly history: History
  readonly #store: ScenarioStore
  readonly #claims = new LaneByName()
  readonly #deploymentModel: ModelAddress
  #head: Release
  #model: ModelAddress
  #trainingMode: TrainingMode
  #workers: readonly Worker[] = []
  #loadError: string | null = null
  /** The load that the engine was told to serve last. */
  #toldLoad: string | null = null
  #isArchived = false
  #users = 0
  readonly #awaitingIdle: (() => void)[] = []
  /** Nobody works with it at the moment. */
  onIdle: () => void = () => undefined
  #lastUse = 0

  constructor(parts: ScenarioParts) {
    this.name = parts.name
    this.recipeName = parts.recipeName
    this.recipe = parts.recipe
    this.binding = parts.binding
    this.#store = parts.store
    this.created = parts.created
    this.keep = (record) => this.append([record])
    const hooks = hooksWithout(parts.binding.surface, null)
    this.surface = { ...parts.binding.surface, ...(hooks && { hooks }) }
    this.#deploymentModel = parts.deploymentModel
    this.history = parts.history
    this.#head = parts.history.head.release
    this.#model = modelAddress(parts.modelSettings, parts.deploymentModel)
    this.#trainingMode = parts.trainingMode
  }

  /** What is remembered of its rows that made a release, oldest first. */
  get released(): History['released'] {
    return this.history.released
  }

  /** A row that is durable counts from here on, and once. */
  landed(commit: Commit): void {
    if (commit.step <= this.history.step) return
    this.history.follow(commit)
    this.settle()
  }

  /** The same of a release that no engine serves: until the row that takes it back, requests are answered by the head there was. */
  landedUnserved(commit: Commit): void {
    this.history.follow(commit)
  }

  /** Whatever the rows say is the head. */
  settle(): void {
    this.#head = this.history.head.release
  }

  /** The rows as they were stored, a page at a time, without one that has not landed yet: history and catalog never tell two stories. */
  async wholeRows(page: CommitPage): Promise<readonly Commit[]> {
    const { step: newest } = this.history
    const landed = 'before' in page ? { ...page, before: Math.min(page.before, newest + 1) } : page
    return (await this.store.commits(landed)).filter(({ step }) => step <= newest)
  }

  /** All of them, oldest first: as much as whoever asks for all of them must hold. */
  async everyRow(): Promise<readonly Commit[]> {
    const rows: Commit[] = []
    for (;;) {
      const page = await this.wholeRows({ after: rows.at(-1)?.step ?? -1, limit: COMMITS_PER_READ })
      if (page.length === 0) return rows
      rows.push(...page)
    }
  }

  async wholeRow(step: number): Promise<Commit | undefined> {
    const [row] = await this.wholeRows({ after: step - 1, limit: 1 })
    return row
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

  /** Whoever appends wakes whoever trains: once per call, and without waiting for it. */
  async append(records: readonly NewRecord[]): Promise<readonly RecordRow[]> {
    const rows = await this.store.append(records)
    if (this.#workers.length > 0) for (const type of new Set(records.map(requestType))) this.#announce(type)
    return rows
  }

  #announce(type: RequestType): void {
    for (const worker of this.#workers) worker.announce(type)
  }

  /** For an exchange whose id its client chose: one at a time has that id, and none once a record has it. */
  claim<T>(id: string, task: () => Promise<T>): Promise<T> {
    return this.#claims.run(id, async () => {
      const stored = await this.types([id])
      if (stored.has(id))
        throw conflict('record_conflict', `${HEADER.receipt}: a record of this scenario has that id already; choose a new one`)
      return task()
    })
  }

  types(ids: readonly string[]): ReturnType<ScenarioStore['types']> {
    return this.store.types(ids)
  }

  /** Whatever serves from a release has it ready from here on. `weights` is asked for where the scenario serves any; `switched` is told. */
  async load(release: Release, weights: () => Promise<ServedWeights>, switched?: () => void): Promise<void> {
    const { loader, weights: engine } = this.surface
    this.#toldLoad = null
    try {
      await within(LOAD_SECONDS_MAX, Promise.resolve(loader?.load(release)))
      if (engine !== undefined)
        await within(
          WEIGHTS_LOAD_SECONDS_MAX,
          weights().then((served) => {
            this.#toldLoad = served.runtime_load_id
            return engine.serve(served, switched)
          }),
        )
      this.#loadError = null
    } catch (error) {
      this.#loadError = `the new release could not be loaded: ${wordsOf(error)}`
      throw error
    }
  }

  get workers(): readonly Worker[] {
    return this.#workers
  }

  /** The trainer that the scenario-wide status and contract are about: the one of the weights, or else the first listed. */
  get leading(): Worker | undefined {
    return this.#workers.find(({ lane }) => lane === 'weights') ?? this.#workers[0]
  }

  /** Instructions that wait, whichever of its trainers takes them. */
  get pendingInstructions(): number {
    return this.#workers.reduce((sum, worker) => sum + worker.pendingInstructions, 0)
  }

  /** Nothing of it runs before training is started. */
  useWorkers(workers: readonly Worker[]): void {
    this.#workers = workers
  }

  startTraining(): void {
    for (const worker of this.#workers) worker.start()
  }

  /** Its workers are not done with what is there. */
  get hasWork(): boolean {
    return this.#workers.some((worker) => !worker.isResting)
  }

  /** Whatever this does is the last thing in the lane: no step lands after it. A weight job that is out must come back first. */
  lastLanding<T>(task: () => Promise<T>): Promise<T> {
    return this.lane.run(async () => {
      if (this.#workers.some((worker) => worker.job !== null))
        throw conflict('job_out', `a weight job of scenario ${JSON.stringify(this.name)} is out; try again once it has ended`)
      const done = await task()
      for (const worker of this.#workers) worker.abort()
      return done
    })
  }

  /** Steps in flight end without a row. */
  async stopTraining(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()))
  }

  /** What went wrong beside requests and was not mended yet, one line each. */
  errors(): readonly string[] {
    const of = (worker: Worker): string => (worker.component === '' ? this.name : `${this.name}/${worker.component}`)
    const steps = this.#workers.flatMap((worker) => (worker.error === null ? [] : [`${of(worker)}: ${worker.error}`]))
    return this.#loadError === null || this.#isServedSince ? steps : [...steps, `${this.name}: ${this.#loadError}`]
  }

  /** An engine that was away serves, once it is back, what it was told then. */
  get #isServedSince(): boolean {
    return this.#toldLoad !== null && this.#toldLoad === this.surface.weights?.status().runtime_load_id
  }

  /** The row that settled a request consumed it. */
  async progress(requestId: string): Promise<RequestProgress> {
    // Asked for first: a step that settles while the rows are read is still seen as the one that held the request.
    const live = this.#workers.flatMap((worker) => worker.live ?? [])
    const failed = this.#workers.flatMap(({ failedInstruction: over }) => (over === null ? [] : [[over.requestId, over.error] as const]))
    const rows = await this.wholeRows({ after: -1, limit: COMMITS_PER_READ, ids: [requestId] })
    return progressOf(requestId, rows, live, new Map(failed))
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
    for (const worker of this.#workers) worker.retry()
  }

  get processors(): readonly (readonly [string, Processor])[] {
    return Object.entries(this.binding.processors)
  }

  head(): Release {
    return this.#head
  }

  /** The release that clients pull now: of several components, the one that last changed their files. */
  get pulledId(): string {
    return this.history.pulledId(this.#head.release_id)
  }

  /** The release the scenario was bound to when it was created. */
  get start(): string {
    return this.created.release?.release_id ?? ''
  }

  hasRelease(releaseId: string): boolean {
    return this.history.makerOf(releaseId) !== undefined
  }

  /** A candidate is played without its own hooks; a component's candidate with every other component's. */
  evaluation(component: string | null): EvaluationServing {
    if (component !== null && contentOf(this.head(), component) === null)
      throw unknown('unknown_component', `scenario ${JSON.stringify(this.name)} serves no component of that name`)
    const { runtime, model } = this
    const hooks = component === null ? undefined : hooksWithout(this.binding.surface, component)
    return { surface: hooks ? { hooks } : {}, runtime, model, head: () => this.head(), hasRelease: (id) => this.hasRelease(id) }
  }

  get isIdle(): boolean {
    return this.#users === 0
  }

  /** Resolves once nobody works with it. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve()
    return new Promise((resolve) => {
      this.#awaitingIdle.push(resolve)
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
      if (this.#users === 0) this.#becomeIdle()
    }
  }

  #becomeIdle(): void {
    for (const resolve of this.#awaitingIdle.splice(0)) resolve()
    this.onIdle()
  }
}

const requestType = (record: NewRecord): RequestType => record.request_type

export function unknownScenario(name: string): Error {
  return unknown('unknown_scenario', `scenario ${JSON.stringify(name)} does not exist; GET /svc/scenarios lists those that do`)
}
