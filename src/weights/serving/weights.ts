/** An engine shared by scenarios: its adapters change in one lane, requests run under leases. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  INTERRUPTED_RETRY_FIRST_SECONDS,
  INTERRUPTED_RETRY_MAX_SECONDS,
  invalid,
  isEngineAway,
  isRefusal,
  upstream,
  type AdapterFolder,
  type AdapterPlan,
  type Encoded,
  type Engine,
  type EngineChat,
  type EngineModel,
  type JsonObject,
  type Lease,
  type Refusal,
  type ServedAdapter,
  type ServedWeights,
  type Tryout,
  type WeightRuntime,
} from '../../contract/index.ts'
import { Lane, newId } from '../../kit/index.ts'
import { adapterName, parseLoadId } from '../load-id.ts'
import { BaseCheck, checkLimits, checkSameBase } from './base-check.ts'
import { Gate, Leases, untilGone } from './leases.ts'
import { adapterLost, engineBusy, engineFull, engineStuck, engineUnreachable, nothingServed } from './refusals.ts'
import { CANDIDATE_PREFIX, Residency, type Slot } from './residency.ts'

/** The time limit of a call. Loading a large adapter from a slow disk fits in. */
const ENGINE_CALL_SECONDS = 300
/** Requests that a pause aborted end at once; a client that reads slowly is not waited for. */
const PAUSE_GRACE_SECONDS = 1

interface Served extends ServedAdapter {
  /** To load it again into an engine that lost it. */
  readonly directory: string | null
}
interface Next extends Served {
  /** Called before any request can use them. */
  readonly switched: () => void
}
interface Scenario {
  readonly name: string
  readonly gate: Gate
  current: Served | null
  /** Weights to be served that could not be loaded because the engine was away; until then no request is answered. */
  wanted: ServedWeights | null
  serving: Promise<void> | null
}

export class Weights implements WeightRuntime {
  readonly #engine: Engine
  readonly #drainSeconds: number
  readonly #closing = new AbortController()
  readonly #lane = new Lane()
  readonly #leases = new Leases()
  readonly #scenarios = new Map<string, Scenario>()
  readonly #table: Residency
  readonly #base: BaseCheck
  /** What the engine holds is unknown at first; it may have outlived the service. */
  #isSuspect = true
  #reconciling: Promise<void> | null = null
  #model: EngineModel | null = null

  constructor(engine: Engine, drainSeconds: number) {
    this.#engine = engine
    this.#base = new BaseCheck(engine)
    this.#drainSeconds = drainSeconds
    const uses = { isCurrent: (name: string) => this.#isCurrent(name), isHeld: (name: string) => this.#leases.hold(name) }
    this.#table = new Residency(engine, () => this.#signal(), uses)
  }

  #signal(): AbortSignal {
    return AbortSignal.any([this.#closing.signal, AbortSignal.timeout(ENGINE_CALL_SECONDS * 1000)])
  }

  get capacity(): number {
    return this.#engine.capacity
  }

  async model(signal: AbortSignal): Promise<EngineModel> {
    return (this.#model ??= await this.#engine.model(signal))
  }

  async checkPlan(plan: AdapterPlan, signal: AbortSignal): Promise<void> {
    await checkLimits(this.#engine, plan, signal)
    await this.#base.check(signal)
  }

  checkBase(tokens: readonly number[], logProbs: readonly number[], signal: AbortSignal): Promise<void> {
    return checkSameBase(this.#engine, tokens, logProbs, signal)
  }

  encode(body: JsonObject, answer: JsonObject | null, signal: AbortSignal): Promise<Encoded | null> {
    return this.#engine.encode?.(body, answer, signal) ?? Promise.resolve(null)
  }

  served(scenario: string): ServedAdapter | null {
    const current = this.#scenarios.get(scenario)?.current ?? null
    return current === null ? null : { runtime_load_id: current.runtime_load_id, adapter: current.adapter }
  }

  admission(scenario: string): 'open' | 'closed' {
    return this.#scenarios.get(scenario)?.gate.isOpen === false ? 'closed' : 'open'
  }

  /** Its adapters can be evicted from here on; running requests still end on them. */
  forget(scenario: string): void {
    this.#scenarios.delete(scenario)
  }

  serve(name: string, weights: ServedWeights, switched: () => void = () => undefined): Promise<void> {
    return this.#lane.run(async () => {
      const scenario = this.#scenarioOf(name)
      try {
        await this.#serve(scenario, { ...weights, switched })
        scenario.wanted = null
      } catch (error) {
        scenario.wanted = isEngineAway(error) ? weights : null
        throw error
      }
    })
  }

  /** Runs once for concurrent callers. A failure leaves the wanted weights in place: the chain names no other. */
  #serveWanted(scenario: Scenario): Promise<void> {
    scenario.serving ??= this.#lane
      .run(async () => {
        const { wanted } = scenario
        if (wanted === null || this.#scenarios.get(scenario.name) !== scenario) return
        await this.#serve(scenario, { ...wanted, switched: () => undefined })
        scenario.wanted = null
      })
      .finally(() => (scenario.serving = null))
    return scenario.serving
  }

  async #serve(scenario: Scenario, { runtime_load_id, directory, switched }: ServedWeights & Pick<Next, 'switched'>): Promise<void> {
    const { name } = scenario
    const load = parseLoadId(runtime_load_id)
    if (load === null) throw invalid('runtime_load_id', 'runtime_load_id must read <incarnation>:<sequence>')
    if (directory === null) return this.#makeCurrent(scenario, { runtime_load_id, adapter: null, directory, switched })
    const next = { runtime_load_id, adapter: adapterName(name, load), directory, switched }
    if (this.#isSuspect) await this.#reconcile()
    if (this.#table.has(next.adapter)) return this.#makeCurrent(scenario, next)
    const slot = { name: next.adapter, scenario: name, directory }
    if (!(await this.#makeRoom(name))) return this.#replaceOwn(scenario, slot, next)
    await this.#table.load(slot)
    this.#makeCurrent(scenario, next)
  }

  #scenarioOf(name: string): Scenario {
    const scenario = this.#scenarios.get(name) ?? { name, gate: new Gate(), current: null, wanted: null, serving: null }
    this.#scenarios.set(name, scenario)
    return scenario
  }

  /**
   * Requests name it from here on, and running ones move to it where the engine can. Never from the base, which other scenarios use too,
   * nor to it, since it has no name that distinguishes its loads.
   */
  #makeCurrent(scenario: Scenario, { switched, ...next }: Next): void {
    const from = scenario.current?.adapter ?? null
    scenario.current = next
    switched()
    if (from === null || next.adapter === null || from === next.adapter || !this.#engine.moves) return
    this.#engine.move?.(from, next.adapter)
    this.#leases.move(from, next.adapter)
  }

  /** Evicts idle adapters, and waits a while for requests on earlier ones. False: there is no free slot. */
  async #makeRoom(scenario: string | null): Promise<boolean> {
    if (await this.#evictIdle(scenario)) return true
    if (this.#passing().length === 0) return false
    const isOneIdle = (): boolean => this.#table.slots().some((slot) => !this.#table.isProtected(slot))
    return (await this.#leases.until(isOneIdle, this.#drainSeconds, this.#closing.signal)) && this.#evictIdle(scenario)
  }

  async #evictIdle(scenario: string | null): Promise<boolean> {
    while (this.#isFull(scenario)) if (!(await this.#table.evictIdle())) return false
    return true
  }

  /** A served adapter that the engine lost keeps its slot until it is loaded again. */
  #isFull(scenario: string | null): boolean {
    const others = [...this.#scenarios.values()].filter(({ name }) => name !== scenario).flatMap(({ current }) => current?.adapter ?? [])
    return this.#table.taken + others.filter((adapter) => !this.#table.keeps(adapter)).length >= this.#engine.capacity
  }

  /** Earlier adapters, which no new request will name. */
  #passing(): readonly Slot[] {
    return this.#table.slots().filter(({ name, scenario }) => scenario !== null && !this.#isCurrent(name))
  }

  #isCurrent(adapter: string): boolean {
    return [...this.#scenarios.values()].some(({ current }) => current?.adapter === adapter)
  }

  /** The scenario's own slot is the only one: it takes no requests until the new adapter is in, or the old one is back. */
  async #replaceOwn(scenario: Scenario, slot: Slot, next: Next): Promise<void> {
    const before = scenario.current
    const slots = this.#table.slotsOf(scenario.name)
    // An earlier one rather than the current one.
    const own = slots.find(({ name }) => name !== before?.adapter) ?? slots[0]
    if (own === undefined) throw this.#full(slot)
    scenario.gate.close()
    try {
      if (!(await this.#takeOut(scenario, own))) throw engineStuck()
      await this.#table.load(slot)
      this.#makeCurrent(scenario, next)
    } catch (error) {
      await this.#loadBack(scenario.name, before)
      throw error
    } finally {
      scenario.gate.open()
    }
  }

  /** Thrown before anything changes, so that no other scenario loses a slot. */
  #full({ name, scenario }: Pick<Slot, 'name' | 'scenario'>): Refusal {
    this.#table.ledger.note('capacity_rejected', name, scenario)
    const isEachCurrent = this.#table.leaked === 0 && this.#table.slots().every((one) => this.#isCurrent(one.name))
    return isEachCurrent ? engineFull(this.capacity) : engineBusy()
  }

  async #takeOut(scenario: Scenario, own: Slot): Promise<boolean> {
    const isDrained = (): boolean => this.#leases.isDrained(scenario.name)
    if (await this.#leases.until(isDrained, this.#drainSeconds, this.#closing.signal)) return this.#table.evict(own)
    this.#closing.signal.throwIfAborted()
    try {
      await this.#engine.pause(this.#signal())
      await this.#leases.until(isDrained, Math.min(PAUSE_GRACE_SECONDS, this.#drainSeconds), this.#closing.signal)
      return await this.#table.evict(own)
    } finally {
      await this.#resume()
    }
  }

  /** An engine that stayed paused is resumed before the next request. */
  async #resume(): Promise<void> {
    try {
      await this.#engine.resume(this.#signal())
    } catch {
      this.#isSuspect = true
    }
  }

  /** A failure is counted in the table, and the next request tries again. */
  async #loadBack(scenario: string, served: Served | null): Promise<void> {
    if (served?.directory == null || served.adapter === null || this.#table.has(served.adapter)) return
    if (!(await this.#evictIdle(scenario))) return
    await this.#table.load({ name: served.adapter, scenario, directory: served.directory }).catch(() => undefined)
  }

  async lease(name: string, signal: AbortSignal): Promise<Lease> {
    for (;;) {
      const scenario = this.#scenarios.get(name)
      if (scenario?.wanted != null) await untilGone(this.#serveWanted(scenario), signal)
      const current = scenario?.current ?? null
      if (scenario === undefined || current === null) throw nothingServed()
      if (!scenario.gate.isOpen) await scenario.gate.opened(signal)
      else if (!this.#isSuspect && this.#isThere(current)) return this.#leases.take(name, current)
      else await this.#findAgain(scenario, signal)
    }
  }

  #isThere({ adapter }: Served): boolean {
    return adapter === null || this.#table.has(adapter)
  }

  async #findAgain(scenario: Scenario, signal: AbortSignal): Promise<void> {
    await untilGone(this.reconcile(), signal)
    const { current, gate } = scenario
    if (gate.isOpen && current !== null && !this.#isThere(current)) throw adapterLost()
  }

  /** Whether the call failed because its adapter was lost, and may be tried again. */
  noteFailure(error: unknown): boolean {
    const isLost = isRefusal(error) && error.code === 'adapter_lost'
    const isSilent = isRefusal(error) && error.kind === 'upstream' && error.detail.upstreamStatus === undefined
    if (isLost || isSilent) this.#isSuspect = true
    return isLost
  }

  isResident(adapter: string): boolean {
    return this.#table.has(adapter)
  }

  /** Reconciles the table with the engine, and loads what is served and missing. Runs once for concurrent callers. */
  reconcile(): Promise<void> {
    this.#reconciling ??= this.#lane.run(() => this.#reconcile()).finally(() => (this.#reconciling = null))
    return this.#reconciling
  }

  async #reconcile(): Promise<void> {
    this.#isSuspect = false
    this.#model = null
    try {
      await this.#engine.health(this.#signal())
      await this.#engine.resume(this.#signal())
      await this.#base.check(this.#signal())
      await this.#table.settle(await this.#engine.adapters(this.#signal()))
    } catch (cause) {
      this.#isSuspect = true
      throw isRefusal(cause) && cause.kind === 'conflict' ? cause : engineUnreachable(cause)
    }
    for (const { name, current } of this.#scenarios.values()) await this.#loadBack(name, current)
  }

  async trial<T>(candidate: AdapterFolder, work: (tryout: Tryout) => Promise<T>, signal: AbortSignal): Promise<T> {
    // A name is loaded once in its life, and a candidate may be tried twice.
    const slot = { name: `${CANDIDATE_PREFIX}${candidate.name}-${newId()}`, scenario: null, directory: candidate.directory }
    await this.#lane.run(async () => {
      signal.throwIfAborted()
      if (this.#isSuspect) await this.#reconcile()
      if (!(await this.#makeRoom(null))) throw this.#full(slot)
      await this.#table.load(slot)
    })
    try {
      return await work({ chat: (body) => askCandidate(this.#engine, { body, adapter: slot.name, signal }) })
    } finally {
      await this.#lane.run(() => this.#table.unload(slot))
    }
  }

  async ask(scenario: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    try {
      return await this.#askOnce(scenario, body, signal)
    } catch (error) {
      if (!this.noteFailure(error)) throw error
      return this.#askOnce(scenario, body, signal)
    }
  }

  async #askOnce(scenario: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const lease = await this.lease(scenario, signal)
    try {
      return await askCandidate(this.#engine, { body, adapter: lease.adapter, signal })
    } finally {
      lease.end()
    }
  }

  status(): JsonObject {
    const served = new Map([...this.#scenarios].map(([name, { current }]) => [name, current]))
    return { capacity: this.capacity, in_flight: this.#leases.count, ...this.#table.status(served) }
  }

  stop(): void {
    this.#closing.abort(engineUnreachable(new Error('the service is closing')))
  }

  async close(): Promise<void> {
    this.stop()
    await this.#engine.close()
  }
}

/** Asks again when a pause for new weights interrupts the call. */
async function askCandidate(engine: Engine, call: EngineChat): Promise<JsonObject> {
  for (let pause = INTERRUPTED_RETRY_FIRST_SECONDS; ; pause = Math.min(pause * 2, INTERRUPTED_RETRY_MAX_SECONDS)) {
    const said = await engine.chat(call)
    if (said.kind === 'answer') return said.answer
    if (said.kind === 'refused')
      throw upstream('engine_refused', 'the engine refused a request of the trial', { upstreamStatus: said.status })
    await sleep(pause * 1000, undefined, { signal: call.signal })
  }
}
