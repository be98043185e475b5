/** One loaded scenario: its binding, its store, and the projections of its commit rows. */
import { conflict, HEADER, LOAD_SECONDS_MAX, unknown, unsupported, WEIGHTS_LOAD_SECONDS_MAX } from '../contract/index.ts'
import type {
  Binding,
  Commit,
  CommitPage,
  Fence,
  ModelAddress,
  NewRecord,
  OwnEvolution,
  Processor,
  Recipe,
  RecordRow,
  Release,
  RequestType,
  Runtime,
  ScenarioStore,
  ServedProvisional,
  ServedWeights,
  StoreLease,
  Surface,
  TrainingMode,
  ModelSettings,
  RequestProgress,
  StepProgress,
} from '../contract/index.ts'
import { Lane, LaneByName, within, wordsOf } from '../kit/index.ts'
import type { Recorder } from '../recording/index.ts'
import { progressOf, runningStep, type Worker } from '../training/index.ts'
import { contentOf } from './composed.ts'
import { heldStart } from './files.ts'
import { COMMITS_PER_READ, type HeadRow, type History } from './history.ts'
import { hooksWithout } from './hooks.ts'
import type { ScoreWatch } from './live-scores.ts'
import { modelAddress } from './model.ts'
import { canaryShare } from './own-evolution.ts'
import { ScenarioReleases } from './releases.ts'

export interface ScenarioParts {
  readonly name: string
  readonly recipeName: string
  readonly recipe: Recipe
  readonly binding: Binding
  readonly store: ScenarioStore
  readonly recorder: Pick<Recorder, 'admit'>
  readonly history: History
  readonly created: Commit
  readonly deploymentModel: () => ModelAddress
  readonly modelSettings: ModelSettings | null
  readonly ownEvolution: OwnEvolution
  readonly trainingMode: TrainingMode
  /** Called with the newest step after each append. */
  readonly noteStep: (scenario: Scenario, step: number) => void
}

/** A scenario as an evaluation call sees it: the served model, without the hooks of the candidate and without recording. */
export interface EvaluationServing {
  readonly surface: Surface
  readonly runtime: Runtime
  readonly model: ModelAddress
  head(): Release
  hasRelease(releaseId: string): boolean | Promise<boolean>
}

export class Scenario {
  readonly name: string
  readonly recipeName: string
  readonly recipe: Recipe
  readonly binding: Binding
  readonly created: Commit
  readonly surface: Surface
  /** Everything that appends a commit row runs in this lane. */
  readonly lane = new Lane()
  readonly keep: (record: NewRecord) => Promise<readonly RecordRow[]>
  readonly history: History
  readonly releases: ScenarioReleases
  readonly #store: ScenarioStore
  readonly #recorder: ScenarioParts['recorder']
  readonly #claims = new LaneByName()
  readonly #deploymentModel: ScenarioParts['deploymentModel']
  #ownModel: ModelSettings | null
  /** What was set for it, over the configuration of its recipe. */
  ownEvolution: OwnEvolution
  trainingMode: TrainingMode
  /** Makes the workers that land their steps under that lease; null where the recipe has no trainer. */
  makeWorkers: ((lease: Fence) => readonly Worker[]) | null = null
  /** Empty while another process holds the lease. */
  workers: readonly Worker[] = []
  #lease: StoreLease | null = null
  /** Null where provisional releases are served to nobody. */
  liveTest: ScoreWatch | null = null
  /** Its processors hold records of earlier training: it is bound again before it trains again. */
  hasTrained = false
  /** The newest step that this process knows of; its row may not have landed here yet. */
  newestStep = -1
  readonly #noteStep: ScenarioParts['noteStep']
  lastUse = 0
  #head: HeadRow
  #provisional: ServedProvisional | null = null
  #loadError: string | null = null
  /** The load id last sent to the engine. */
  #requestedLoad: string | null = null
  #isArchived = false
  #onServed: (() => void) | null = null
  #users = 0
  readonly #awaitingIdle: (() => void)[] = []

  constructor(parts: ScenarioParts) {
    this.name = parts.name
    this.recipeName = parts.recipeName
    this.recipe = parts.recipe
    this.binding = parts.binding
    this.#store = parts.store
    this.#recorder = parts.recorder
    this.created = parts.created
    this.keep = (record) => this.append([record])
    const hooks = hooksWithout(parts.binding.surface, null)
    this.surface = { ...parts.binding.surface, ...(hooks && { hooks }) }
    this.#deploymentModel = parts.deploymentModel
    this.history = parts.history
    this.ownEvolution = parts.ownEvolution
    this.releases = new ScenarioReleases(parts.history, () => this.store)
    this.#head = parts.history.head
    this.#provisional = this.#servedProvisional()
    this.#ownModel = parts.modelSettings
    this.trainingMode = parts.trainingMode
    this.#noteStep = parts.noteStep
  }

  /** Counts a durable row, once. */
  landed(commit: Commit): void {
    if (commit.step <= this.history.step) return
    this.history.follow(commit)
    this.settle()
  }

  /** Sets the head to the one the rows name. */
  settle(): void {
    this.#head = this.history.head
    this.#provisional = this.#servedProvisional()
    this.#onServed?.()
  }

  /** Called whenever what it serves has changed. */
  onServed(listener: () => void): void {
    this.#onServed = listener
  }

  /** A page of stored rows, without rows that have not landed yet, so that history and catalog agree. */
  async wholeRows(page: CommitPage): Promise<readonly Commit[]> {
    const { step: newest } = this.history
    const landed = 'before' in page ? { ...page, before: Math.min(page.before, newest + 1) } : page
    return (await this.store.commits(landed)).filter(({ step }) => step <= newest)
  }

  /** All rows, oldest first. The caller pays for the memory. */
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

  /** Stores are keyed by name, and an archived scenario's name may be in use again. */
  get store(): ScenarioStore {
    if (this.#isArchived) throw unknownScenario(this.name)
    return this.#store
  }

  get isArchived(): boolean {
    return this.#isArchived
  }
  /** From here on, work still in flight can neither read nor write. */
  retire(): void {
    this.#isArchived = true
  }

  async append(records: readonly NewRecord[]): Promise<readonly RecordRow[]> {
    const admitted = await this.#recorder.admit(this.name, records)
    // Only now: the name may have become another's meanwhile.
    const { rows, step } = await this.store.append(admitted)
    this.#noteStep(this, step)
    return rows
  }

  /** Records of these types were appended, here or elsewhere. Wakes the trainers, without waiting for them. */
  announce(types: readonly RequestType[]): void {
    if (types.includes('report')) this.liveTest?.wake()
    for (const type of types) for (const worker of this.workers) worker.announce(type)
  }

  /** For an exchange whose client chose the id: runs one task per id at a time, and none once a record has the id. */
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

  /** Prepares a release for serving. `weights` is called where the scenario serves weights; `switched` when the engine switches. */
  async load(release: Release, weights: () => Promise<ServedWeights>, switched?: () => void): Promise<void> {
    const { loader, weights: engine } = this.surface
    this.#requestedLoad = null
    try {
      await within(LOAD_SECONDS_MAX, Promise.resolve(loader?.load(release)))
      if (engine !== undefined)
        await within(
          WEIGHTS_LOAD_SECONDS_MAX,
          weights().then((served) => {
            this.#requestedLoad = served.runtime_load_id
            return engine.serve(served, switched)
          }),
        )
      this.#loadError = null
    } catch (error) {
      this.#loadError = `the new release could not be loaded: ${wordsOf(error)}`
      throw error
    }
  }

  /** The trainer shown in the scenario-wide status and contract: the one of the weights, else the first. */
  get leading(): Worker | undefined {
    return this.workers.find(({ lane }) => lane === 'weights') ?? this.workers[0]
  }

  /** Waiting instructions of all trainers. */
  get pendingInstructions(): number {
    return this.workers.reduce((sum, worker) => sum + worker.pendingInstructions, 0)
  }

  /** Makes the workers; `startTraining` starts them. */
  trainUnder(lease: StoreLease): void {
    this.#lease = lease
    this.workers = this.makeWorkers?.(lease) ?? []
  }

  startTraining(): void {
    if (this.workers.length > 0) this.hasTrained = true
    for (const worker of this.workers) worker.start()
  }

  get hasWork(): boolean {
    return this.workers.some((worker) => !worker.isResting)
  }

  /** Runs a task as the last one in the lane: no step lands after it. Refused while a weight job is in progress. */
  lastLanding<T>(task: () => Promise<T>): Promise<T> {
    return this.lane.run(async () => {
      if (this.workers.some((worker) => worker.job !== null))
        throw conflict('job_out', `a weight job of scenario ${JSON.stringify(this.name)} is in progress; try again once it has ended`)
      const done = await task()
      for (const worker of this.workers) worker.abort()
      return done
    })
  }

  /** The lease is given back once nothing can land under it. */
  async stopTraining(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.stop()))
    const lease = this.#lease
    this.#lease = null
    await lease?.release()
  }

  /** Current failures of the background work, one line each. */
  errors(): readonly string[] {
    const of = (worker: Worker): string => (worker.component === '' ? this.name : `${this.name}/${worker.component}`)
    const steps = this.workers.flatMap((worker) => (worker.error === null ? [] : [`${of(worker)}: ${worker.error}`]))
    return this.#loadError === null || this.#isServedSince ? steps : [...steps, `${this.name}: ${this.#loadError}`]
  }

  /** An engine that was away serves the last requested load once it is back. */
  get #isServedSince(): boolean {
    return this.#requestedLoad !== null && this.#requestedLoad === this.surface.weights?.status().runtime_load_id
  }

  /** The steps that run now, one per trainer at most. */
  running(): readonly StepProgress[] {
    return this.workers.flatMap(({ component, live }) => (live === null ? [] : [runningStep(component, live)]))
  }

  async progress(requestId: string): Promise<RequestProgress> {
    // Read before the rows: a step that settles meanwhile is still reported as the one that holds the request.
    const live = this.workers.flatMap((worker) => worker.live ?? [])
    const failed = this.workers.flatMap(({ failedInstruction: over }) => (over === null ? [] : [[over.requestId, over.error] as const]))
    const rows = await this.wholeRows({ after: -1, limit: COMMITS_PER_READ, ids: [requestId] })
    return progressOf(requestId, rows, live, new Map(failed))
  }

  get runtime(): Runtime {
    return this.binding.runtime
  }
  /** Where calls go: the scenario's own settings over the deployment's. */
  get model(): ModelAddress {
    return modelAddress(this.#ownModel, this.#deploymentModel())
  }
  useModel(own: ModelSettings | null): void {
    this.#ownModel = own
    this.#onServed?.()
  }

  /** A step under way keeps what it began with. */
  useEvolution(own: OwnEvolution): void {
    this.ownEvolution = own
    this.settle()
    for (const worker of this.workers) worker.retry()
  }

  /** Throws when a processor does not support the mode. */
  checkMode(mode: TrainingMode): void {
    const refusing = this.processors.find(([, processor]) => !processor.modes.includes(mode))
    if (refusing === undefined) return
    const modes = refusing[1].modes.join(', ')
    throw unsupported('unsupported_mode', `recipe ${this.recipeName} does not run in ${mode} mode; it runs in: ${modes}`)
  }

  useMode(mode: TrainingMode): void {
    this.checkMode(mode)
    this.trainingMode = mode
    for (const worker of this.workers) worker.retry()
  }

  get processors(): readonly (readonly [string, Processor])[] {
    return Object.entries(this.binding.processors)
  }

  head(): Release {
    return this.#head.row.release
  }
  /** Null where there is none, and where it is served to nobody. */
  get provisional(): ServedProvisional | null {
    return this.#provisional
  }

  #servedProvisional(): ServedProvisional | null {
    const [share, provisional] = [canaryShare(this), this.history.provisional]
    return share === null || provisional === null ? null : { release: provisional.row.release, share }
  }

  /** The release that clients pull now: with several components, the one that last changed their files. */
  get pulledId(): string {
    return this.#head.made.as
  }

  /** The release the scenario was bound to at creation. */
  get start(): string {
    return heldStart(this.created) ?? this.created.release?.release_id ?? ''
  }

  hasRelease(releaseId: string): boolean | Promise<boolean> {
    return this.releases.has(releaseId)
  }

  /** A candidate is evaluated without its own hooks, but with those of every other component. */
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

  /** Resolves once no caller uses the scenario. */
  idle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => void this.#awaitingIdle.push(resolve))
  }

  /** A scenario is not unloaded while a caller uses it. */
  async use<T>(work: (scenario: Scenario) => Promise<T>): Promise<T> {
    this.#users += 1
    try {
      return await work(this)
    } finally {
      this.#users -= 1
      this.lastUse = performance.now()
      if (this.#users === 0) for (const resolve of this.#awaitingIdle.splice(0)) resolve()
    }
  }
}

export const unknownScenario = (name: string): Error =>
  unknown('unknown_scenario', `scenario ${JSON.stringify(name)} does not exist; GET /svc/scenarios lists those that do`)
