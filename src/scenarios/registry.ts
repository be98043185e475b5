/** Creates, loads, unloads and archives scenarios. No other module holds loaded scenarios. */
import { isRefusal, SCENARIO_LOAD_RETRY_AFTER_SECONDS, unavailable, unknown } from '../contract/index.ts'
import type { Adapter, Commit, ModelSettings, ServiceStatus } from '../contract/index.ts'
import { LaneByName } from '../kit/index.ts'
import { archiveFolders, bindScenario, closeBinding, releaseUnloaded, retireBinding } from './bind.ts'
import { changeSettings, type SettingChanges } from './change-settings.ts'
import { checkOptions, type NewScenario } from './create.ts'
import { Directory, type RegistryLimits, type ScenarioMade } from './directory.ts'
import { reach, type ScenarioView, type Services } from './services.ts'
import { Following, type Loading } from './following.ts'
import { servedEverywhere } from './members.ts'
import { changesServed, moveByHand, NOTHING_SAID, type Move, type Moved, type PersonsWords } from './move.ts'
import { Preloading } from './preloading.ts'
import { Standby } from './standby.ts'
import { unknownScenario, type Scenario } from './scenario.ts'
import { Unfinished } from './unfinished.ts'
import { viewOf } from './view.ts'

export class Registry {
  readonly #services: Services
  readonly #limits: RegistryLimits
  readonly #directory: Directory
  readonly #loaded = new Map<string, Scenario>()
  /** One operation at a time per name: loading, creating and archiving the same scenario never overlap. */
  readonly #lanes = new LaneByName()
  /** Scenarios being unloaded. None is bound again before its recipe has closed. */
  readonly #closing = new Map<string, Promise<void>>()
  readonly #preloading: Preloading
  readonly #unfinished = new Unfinished(() => this.#resume())
  /** Scenarios that are being loaded; they count towards `loadedMax`. */
  #loading = 0
  readonly #openedAt: number
  readonly #standby: Standby
  readonly #following: Following
  #isClosed = false
  /** When a worker last ran out of work. */
  lastDrainAt: number | null = null

  private constructor(services: Services, limits: RegistryLimits) {
    this.#services = services
    this.#openedAt = services.clock()
    this.#limits = limits
    this.#directory = new Directory(services, limits)
    this.#preloading = new Preloading(services)
    this.#standby = new Standby(services, () => this.#retryLeases())
    this.#following = new Following(services, this.#loaded, {
      inBackground: (name, task) => this.#inBackground(name, task),
      archived: (name) => this.#forget(name),
      unload: (name) => this.#unload(name),
      appended: (name) => this.#appendedUnloaded(name),
    })
  }

  static async open(services: Services, limits: RegistryLimits): Promise<Registry> {
    return new Registry(services, limits)
  }

  use<T>(name: string, work: (scenario: Scenario) => Promise<T>): Promise<T> {
    return this.#use(name, work, nothing)
  }

  #use<T>(name: string, work: (scenario: Scenario) => Promise<T>, create: () => Promise<Commit | undefined>): Promise<T> {
    const loaded = this.#loaded.get(name)
    if (loaded !== undefined) return loaded.use(work)
    const begin = (scenario: Scenario): { working: Promise<T> } => ({ working: scenario.use(work) })
    // The lane is held only until the work has started.
    return this.#lanes.run(name, () => this.#load(name, begin, create)).then(({ working }) => working)
  }

  /** Creates the scenario on the first request where that is allowed. `release` binds a new scenario; an existing one must be bound to it already. */
  async useOrCreate<T>(name: string, release: string | null, work: (scenario: Scenario) => Promise<T>, made?: ScenarioMade): Promise<T> {
    const checked = (scenario: Scenario): Promise<T> => {
      checkOptions(scenario, { release, recipe: null })
      return work(scenario)
    }
    return this.#use(name, checked, () => this.#directory.createImplicitly(name, release, made))
  }

  /** For callers that must never load or create a scenario. */
  useLoaded<T>(name: string, work: (scenario: Scenario) => Promise<T>): Promise<T> {
    const loaded = this.#loaded.get(name)
    if (loaded === undefined) throw unknown('unknown_scenario', `scenario ${JSON.stringify(name)} is not loaded in this process`)
    return loaded.use(work)
  }

  /** Creates the scenario, or returns the existing one when the options do not contradict it. `own` is called only for a new scenario. */
  async create(name: string, options: NewScenario, own: () => ModelSettings | null): Promise<{ scenario: Scenario; isNew: boolean }> {
    return this.#lanes.run(name, async () => {
      let isNew = false
      const make = async (): Promise<Commit | undefined> => {
        const created = await this.#directory.create(name, options, own())
        isNew = created !== undefined
        return created ?? this.#directory.creationRow(name)
      }
      const scenario = await this.#load(name, (loaded) => loaded, make)
      checkOptions(scenario, options)
      return { scenario, isNew }
    })
  }

  /** Applies all of an update or none of it. The lane keeps the file and the memory in step when two updates arrive at once. */
  update(name: string, changes: SettingChanges): Promise<Scenario> {
    return this.#lanes.run(name, async () => {
      const begin = (scenario: Scenario) => ({ working: scenario.use(() => changeSettings(this.#services, scenario, changes)) })
      const changed = await (await this.#load(name, begin)).working
      await this.#services.views?.settled()
      return changed
    })
  }

  /** Answers the new head, or the current one when it is the target already, and when a release was withdrawn or rejected. */
  async move(name: string, releaseId: string, operation: Move, said: PersonsWords = NOTHING_SAID): Promise<Moved> {
    const { moved, isNew } = await this.use(name, async (scenario) => {
      const { step } = scenario.history
      const done = await moveByHand(this.#services, scenario, releaseId, operation, said)
      return { moved: done, isNew: done.step > step }
    })
    // Other gateways need not know words at once, and have what was so already.
    if (isNew && changesServed(operation)) return { ...moved, behind: await servedEverywhere(this.#services, name, moved.step) }
    await this.#services.views?.settled()
    return moved
  }

  /**
   * Archives the scenario and frees its name. The pointer is renamed first: a crash before the rows are archived leaves the scenario whole,
   * and loading it sets the pointer again. A remote repository refuses before anything has changed. No step lands once the pointer is renamed.
   */
  remove(name: string): Promise<readonly string[]> {
    return this.#lanes.run(name, async () => {
      const { store, contents, files, newId } = this.#services
      const scenario = this.#loaded.get(name)
      const created = await this.#directory.creationRow(name)
      if (created === undefined) throw unknownScenario(name)
      const folders = await this.#foldersOf(name, created)
      const rename = (): Promise<string> => reach(contents.archive(name, newId()))
      const ref = await (scenario === undefined ? rename() : scenario.lastLanding(rename))
      if (scenario !== undefined) await retireBinding(this.#services, scenario.binding)
      await this.#unload(name)
      this.#services.views?.archived(name)
      await this.#services.views?.settled()
      const rows = await store.archive(name)
      scenario?.retire()
      this.#forget(name)
      await files.archive(created, rows)
      await archiveFolders(this.#services, folders)
      return [rows, ref]
    })
  }

  /** The recipe of an unloaded scenario must be bound briefly to learn its folders. */
  async #foldersOf(name: string, created: Commit): Promise<readonly string[]> {
    const scenario = this.#loaded.get(name)
    if (scenario !== undefined) return scenario.binding.folders ?? []
    await this.#closing.get(name)
    return releaseUnloaded(this.#services, name, created)
  }

  async has(name: string): Promise<boolean> {
    return this.#loaded.has(name) || (await this.#directory.creationRow(name)) !== undefined
  }

  loaded(name: string): Scenario | undefined {
    return this.#loaded.get(name)
  }

  /** Null while the scenario is not loaded. */
  view(name: string): ScenarioView | null {
    const scenario = this.#loaded.get(name)
    return scenario === undefined ? null : viewOf(this.#services, scenario)
  }

  /** The loaded scenarios, by name. */
  get allLoaded(): readonly Scenario[] {
    return [...this.#loaded].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, scenario]) => scenario)
  }

  names(): Promise<readonly string[]> {
    return this.#directory.names()
  }

  /** The recipe a scenario was created with, loaded or not; null when the scenario was deleted meanwhile. */
  recipeOf(name: string): Promise<string | null> {
    return this.#directory.recipeOf(name)
  }

  /** The adapters of the recipes that serve files, by recipe name. */
  get adapters(): ReadonlyMap<string, Adapter> {
    return new Map(
      [...this.#services.recipes].flatMap(([name, { recipe }]) => (recipe.adapter === undefined ? [] : [[name, recipe.adapter]])),
    )
  }

  /** The weight job in progress, if any. */
  trainingJob(): ServiceStatus['training_job'] {
    for (const { name, workers } of this.#loaded.values()) {
      const job = workers.find((worker) => worker.job !== null)?.job ?? null
      if (job !== null) return { status: job.status, training_job_id: job.id, owner: name }
    }
    return null
  }

  preloadErrors(): ServiceStatus['preload_errors'] {
    return this.#preloading.errors
  }

  /**
   * Loads the existing scenarios at start, up to `loadedMax`; one that fails to load stops no other. The others that train are queued and
   * loaded when a loaded one runs out of work, so that their unread records need not wait for a call.
   */
  async preload(signal: AbortSignal): Promise<void> {
    await this.#preloading.each(await this.names(), signal, (name, index) => this.#preload(name, index))
    this.#resume()
  }

  async #preload(name: string, index: number): Promise<void> {
    if (index < this.#limits.loadedMax) await this.#preloading.try(name, () => this.use(name, () => Promise.resolve()))
    else if (await this.#directory.trains(name)) this.#unfinished.add(name)
  }

  #rested(name: string): void {
    this.lastDrainAt = this.#services.clock()
    const scenario = this.#loaded.get(name)
    if (scenario?.hasWork === false) void scenario.idle().then(() => this.#resume())
  }

  /** Loads the scenario that has waited longest with work left, unless that would unload one that is working. */
  #resume(): void {
    const name = this.#unfinished.oldest
    if (this.#isClosed || name === undefined) return
    if (!this.#hasRoomForWork()) return this.#unfinished.waitForRoom()
    this.#unfinished.delete(name)
    this.#lanes
      .run(name, () => this.#loadToTrain(name))
      .catch((error: unknown) => {
        if (isUnknownScenario(error)) return
        this.#services.warn('a scenario with work left could not be loaded', error)
        if (isRefusal(error) && error.code === 'too_many_loaded') this.#unfinished.add(name)
        else this.#unfinished.failed(name)
        this.#resume()
      })
  }

  /** A scenario that another process trains is left to it, and tried again later. */
  async #loadToTrain(name: string): Promise<void> {
    if (this.#loaded.has(name) || (await this.#standby.isFree(name))) return this.#load(name, () => undefined)
    this.#unfinished.add(name)
  }

  #hasRoomForWork(): boolean {
    if (this.#loaded.size + this.#loading < this.#limits.loadedMax) return true
    return [...this.#loaded.values()].some((scenario) => scenario.isIdle && !scenario.hasWork)
  }

  #inBackground(name: string, task: () => Promise<void>): void {
    if (this.#isClosed) return
    this.#lanes.run(name, task).catch((error: unknown) => {
      if (!isUnknownScenario(error)) this.#services.warn('a change of a scenario could not be followed', error)
    })
  }

  /** A listener thread or another process appended to a scenario that is not loaded here: its trainer is to read that. */
  async #appendedUnloaded(name: string): Promise<void> {
    if (this.#loaded.has(name) || !(await this.#directory.trains(name))) return
    this.#unfinished.add(name)
    this.#resume()
  }

  #forget(name: string): void {
    this.#directory.forget(name)
    this.#unfinished.delete(name)
    this.#preloading.forget(name)
  }

  #retryLeases(): void {
    for (const scenario of this.#standby.waiting) this.#inBackground(scenario.name, () => this.#takeOver(scenario))
    this.#resume()
  }

  /** Trains a loaded scenario whose lease is free. One that has trained here is bound again, once no request uses it. */
  async #takeOver(scenario: Scenario): Promise<void> {
    const { name } = scenario
    if (this.#loaded.get(name) !== scenario) return void this.#standby.leave(scenario)
    if (!scenario.hasTrained) {
      await this.#standby.take(scenario)
      scenario.startTraining()
    } else if (scenario.isIdle && (await this.#standby.isFree(name))) {
      await this.#unload(name)
      await this.#load(name, () => undefined)
    }
  }

  /** Runs before the server closes, since trainers call it. Steps in flight end without a row. */
  async stopTraining(): Promise<void> {
    this.#isClosed = true
    this.#standby.close()
    this.#unfinished.close()
    await Promise.all([...this.#loaded.values()].map((scenario) => scenario.stopTraining()))
  }

  /** Records of interrupted requests are still being written; `idle()` waits for them. */
  async close(): Promise<void> {
    await this.stopTraining()
    this.#following.stop()
    await Promise.all([...this.#loaded.values()].map((scenario) => scenario.idle()))
    await Promise.all([...this.#loaded.keys()].map((name) => this.#lanes.run(name, () => this.#unload(name))))
  }

  get createsImplicitly(): boolean {
    return this.#limits.implicitCreation
  }

  /** `begin` runs before anything else can unload the scenario. `create` runs where the store has no such scenario. */
  async #load<T>(name: string, begin: (scenario: Scenario) => T, create: () => Promise<Commit | undefined> = nothing): Promise<T> {
    const loaded = this.#loaded.get(name)
    if (loaded !== undefined) return begin(loaded)
    const loading = this.#following.beginLoad(name)
    try {
      const created = (await this.#directory.creationRow(name)) ?? (await create())
      if (created === undefined) throw unknownScenario(name)
      return await this.#bind(name, created, loading, begin)
    } finally {
      loading.over()
      // Another scenario made room for one that is not loaded.
      if (!this.#loaded.has(name)) this.#resume()
    }
  }

  async #bind<T>(name: string, created: Commit, loading: Loading, begin: (scenario: Scenario) => T): Promise<T> {
    const leaving = this.#scenarioToUnload()
    this.#loading += 1
    try {
      if (leaving !== null) await this.#unload(leaving.name)
      await this.#closing.get(name)
      const scenario = await bindScenario(this.#services, name, created, {
        since: this.#openedAt,
        onRest: () => this.#rested(name),
        onLeaseLost: (lost) => this.#standby.lose(lost),
      })
      await this.#standby.takeAtLoad(scenario)
      const isGone = await this.#directory.isGone(scenario, loading)
      this.#loaded.set(name, scenario)
      if (isGone) {
        await this.#unload(name)
        throw unknownScenario(name)
      }
      scenario.onServed(() => this.#tell(name))
      this.#unfinished.delete(name)
      if (!this.#isClosed) scenario.startTraining()
      this.#preloading.forget(name)
      loading.over()
      return begin(scenario)
    } catch (error) {
      throw (await this.#directory.isStill(name, created)) ? error : unknownScenario(name)
    } finally {
      this.#loading -= 1
    }
  }

  #tell(name: string): void {
    this.#services.views?.changed(name, this.view(name))
  }

  /** The scenario that has been idle longest; null while there is room. When all are busy the caller must retry. */
  #scenarioToUnload(): Scenario | null {
    if (this.#loaded.size + this.#loading < this.#limits.loadedMax) return null
    const idle = [...this.#loaded.values()].filter((scenario) => scenario.isIdle)
    const [longest] = idle.sort((a, b) => Number(a.hasWork) - Number(b.hasWork) || a.lastUse - b.lastUse)
    if (longest === undefined)
      throw unavailable('too_many_loaded', 'as many scenarios as svc.max_loaded_scenarios allows are busy; try again shortly', {
        retryAfterSeconds: SCENARIO_LOAD_RETRY_AFTER_SECONDS,
      })
    return longest
  }

  async #unload(name: string): Promise<void> {
    const scenario = this.#loaded.get(name)
    if (scenario === undefined) return
    this.#loaded.delete(name)
    this.#tell(name)
    if (scenario.hasWork || this.#standby.leave(scenario)) this.#unfinished.add(name)
    const closing = scenario.stopTraining().then(() => closeBinding(this.#services, scenario.binding))
    this.#closing.set(name, closing)
    await closing
    this.#closing.delete(name)
  }
}

const isUnknownScenario = (error: unknown): boolean => isRefusal(error) && error.code === 'unknown_scenario'

const nothing = (): Promise<undefined> => Promise.resolve(undefined)
