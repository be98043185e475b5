/** The table of adapters that the engine holds: loaded, probed, evicted, and reconciled with the engine's own list. */
import {
  conflict,
  isRefusal,
  unavailable,
  type AdapterFolder,
  type Engine,
  type JsonObject,
  type ServedAdapter,
} from '../../contract/index.ts'
import { provenanceIn } from '../formats/provenance.ts'
import { parseAdapterName, printLoadId } from '../load-id.ts'
import { wordsOf } from '../../kit/index.ts'
import { baseChanged } from './base-check.ts'
import { distance, IDENTICAL, NOISE, TOLERANCE } from './distance.ts'
import { engineStuck } from './refusals.ts'

const COUNTED = {
  load: 'loads',
  load_failed: 'load_failures',
  load_cleanup: 'load_cleanups',
  cleanup_failed: 'cleanup_failures',
  unload: 'unloads',
  unload_failed: 'unload_failures',
  evict: 'evictions',
  capacity_rejected: 'capacity_rejections',
  stray_unloaded: 'strays_unloaded',
  lost_dropped: 'lost_dropped',
} as const
const RECENT_MAX = 32

export interface Slot {
  readonly name: string
  /** Null: a candidate on trial. */
  readonly scenario: string | null
  readonly directory: string
}

export interface Uses {
  readonly isCurrent: (name: string) => boolean
  /** What a request under way may still name. */
  readonly isHeld: (name: string) => boolean
}

export const CANDIDATE_PREFIX = 'candidate-'

export class Residency {
  readonly ledger = new AdapterLedger()
  readonly #engine: Engine
  readonly #signal: () => AbortSignal
  readonly #uses: Uses
  readonly #slots = new Map<string, Slot>()
  /** Those whose unloading failed: whether the engine still holds them is unknown. */
  readonly #leaked = new Set<string>()

  /** `signal` makes the time limit of one call. */
  constructor(engine: Engine, signal: () => AbortSignal, uses: Uses) {
    this.#engine = engine
    this.#signal = signal
    this.#uses = uses
  }

  /** Whether requests may name it. */
  has(name: string): boolean {
    return this.#slots.has(name) && !this.#leaked.has(name)
  }

  /** Whether it has a slot, leaked or not. */
  keeps(name: string): boolean {
    return this.#slots.has(name)
  }

  /** How many slots are not free, leaked ones among them. */
  get taken(): number {
    return this.#slots.size
  }

  /** Oldest first. */
  slots(): readonly Slot[] {
    return [...this.#slots.values()].filter(({ name }) => !this.#leaked.has(name))
  }

  slotsOf(owner: string): readonly Slot[] {
    return [...this.#slots.values()].filter(({ scenario }) => scenario === owner)
  }

  get leaked(): number {
    return this.#leaked.size
  }

  isProtected({ name, scenario }: Slot): boolean {
    return scenario === null || this.#isNeeded(name)
  }

  #isNeeded(name: string): boolean {
    return this.#uses.isCurrent(name) || this.#uses.isHeld(name)
  }

  /** Into a free slot. A load that fails keeps no slot, and is unloaded again. */
  async load(slot: Slot): Promise<void> {
    const { name, scenario, directory } = slot
    if (this.#leaked.has(name) && (this.#uses.isHeld(name) || !(await this.unload(slot)))) throw engineStuck()
    try {
      await this.#engine.load({ name, directory }, this.#signal())
      await probe(this.#engine, { name, directory }, this.#signal())
    } catch (error) {
      this.ledger.note('load_failed', name, scenario, error)
      await this.#cleanUp(slot)
      throw isRefusal(error)
        ? error
        : unavailable('adapter_not_loaded', 'the engine could not load the adapter; its status says why', { cause: error })
    }
    this.#slots.set(name, slot)
    this.ledger.note('load', name, scenario)
  }

  async #cleanUp(slot: Slot): Promise<void> {
    try {
      await this.#engine.unload(slot.name, this.#signal())
      this.ledger.note('load_cleanup', slot.name, slot.scenario)
    } catch (error) {
      this.ledger.note('cleanup_failed', slot.name, slot.scenario, error)
      this.#leak(slot)
    }
  }

  #leak(slot: Slot): void {
    this.#slots.set(slot.name, slot)
    this.#leaked.add(slot.name)
  }

  /** Tries leaked ones first, then the oldest idle ones, until one is unloaded. False: none could be. */
  async evictIdle(): Promise<boolean> {
    const leaked = [...this.#slots.values()].filter(({ name }) => this.#leaked.has(name) && !this.#isNeeded(name))
    const idle = this.slots().filter((slot) => !this.isProtected(slot))
    for (const slot of [...leaked, ...idle]) if (await this.evict(slot)) return true
    return false
  }

  async evict(slot: Slot): Promise<boolean> {
    if (!(await this.unload(slot))) return false
    this.ledger.note('evict', slot.name, slot.scenario)
    return true
  }

  /** False: the engine did not unload it, and the slot stays taken. */
  async unload(slot: Slot): Promise<boolean> {
    try {
      await this.#engine.unload(slot.name, this.#signal())
    } catch (error) {
      this.ledger.note('unload_failed', slot.name, slot.scenario, error)
      this.#leak(slot)
      return false
    }
    this.#drop(slot.name)
    this.ledger.note('unload', slot.name, slot.scenario)
    return true
  }

  #drop(name: string): void {
    this.#slots.delete(name)
    this.#leaked.delete(name)
  }

  /** After the engine may have restarted: drops what it lost, and unloads our adapters that are not in the table. */
  async settle(held: readonly string[]): Promise<void> {
    const names = new Set(held)
    for (const slot of this.#slots.values()) {
      if (names.has(slot.name)) {
        await this.#settleLeaked(slot)
        continue
      }
      this.#drop(slot.name)
      this.ledger.note('lost_dropped', slot.name, slot.scenario)
    }
    for (const name of names) if (!this.#slots.has(name) && isOurs(name)) await this.#unloadStray(name)
  }

  /** A leaked adapter that is still there: used again if a scenario is served by it and its probe passes, otherwise unloaded. */
  async #settleLeaked(slot: Slot): Promise<void> {
    const { name } = slot
    if (!this.#leaked.has(name)) return
    const isSound = async (): Promise<boolean> =>
      (await Promise.allSettled([probe(this.#engine, slot, this.#signal())]))[0].status === 'fulfilled'
    if (this.#uses.isCurrent(name) && (await isSound())) this.#leaked.delete(name)
    else if (!this.#uses.isHeld(name)) await this.unload(slot)
  }

  async #unloadStray(name: string): Promise<void> {
    const scenario = parseAdapterName(name)?.scenario ?? null
    if (await this.unload({ name, scenario, directory: '' })) this.ledger.note('stray_unloaded', name, scenario)
  }

  status(served: ReadonlyMap<string, ServedAdapter | null>): JsonObject {
    const slots = this.slots()
    const names = new Set([...served.keys(), ...slots.flatMap(({ scenario }) => scenario ?? [])])
    const shown = [...names].map((name) => {
      const current = served.get(name) ?? null
      const resident = slots.filter(({ scenario }) => scenario === name).flatMap(loadIdOf)
      return [name, { current: current && { runtime_load_id: current.runtime_load_id, adapter: current.adapter }, resident }] as const
    })
    return {
      resident: slots.length,
      leaked: this.leaked,
      protected: slots.filter((slot) => this.isProtected(slot)).length,
      ...this.ledger.status(),
      scenarios: Object.fromEntries(shown),
    }
  }
}

function loadIdOf({ name }: Slot): readonly string[] {
  const load = parseAdapterName(name)
  return load === null ? [] : [printLoadId(load)]
}

function isOurs(name: string): boolean {
  return parseAdapterName(name) !== null || name.startsWith(CANDIDATE_PREFIX)
}

/** What was done to the engine's adapters: counted, and the latest of it by name. */
class AdapterLedger {
  readonly #counters: Record<string, number> = Object.fromEntries(Object.values(COUNTED).map((counter) => [counter, 0]))
  readonly #recent: JsonObject[] = []

  note(action: keyof typeof COUNTED, adapter: string, scenario: string | null, error?: unknown): void {
    const counter = COUNTED[action]
    this.#counters[counter] = (this.#counters[counter] ?? 0) + 1
    this.#recent.push({ action, adapter, scenario, ...(error === undefined ? {} : { detail: wordsOf(error) }) })
    if (this.#recent.length > RECENT_MAX) this.#recent.shift()
  }

  status(): { readonly counters: JsonObject; readonly recent_actions: readonly JsonObject[] } {
    return { counters: { ...this.#counters }, recent_actions: [...this.#recent] }
  }
}

/**
 * Scores the trainer's probe with a freshly loaded adapter: engines have been seen to load one and still answer with the base. Throws
 * Refusal when the adapter was ignored, or answers otherwise than in training.
 */
async function probe(engine: Engine, { name, directory }: AdapterFolder, signal: AbortSignal): Promise<void> {
  const { probe: asked = null } = (await provenanceIn(directory)) ?? {}
  // An adapter from elsewhere brings no probe, and whether it should change anything is not known.
  if (asked === null || asked.tokens.length < 2) return
  const { vocabulary, contextTokens } = await engine.model(signal)
  const tokens = asked.tokens.slice(0, contextTokens)
  const trained = asked.log_probs.slice(0, tokens.length - 1)
  if (!tokens.every((token) => token < vocabulary)) throw differs('its probe has tokens that the base does not know')
  const [adapted, base] = [await engine.score(tokens, name, signal), await engine.score(tokens, null, signal)]
  const expected = asked.base_log_probs?.slice(0, base.length)
  if (expected !== undefined && !(distance(base, expected) <= TOLERANCE)) throw baseChanged()
  if (distance(adapted, base) <= IDENTICAL && distance(trained, base) > NOISE)
    throw conflict(
      'adapter_ignored',
      'the engine took the adapter in and answers as the base does; check that its modules are those of the base',
    )
  // Written so that what is not a number is refused too.
  if (!(distance(adapted, trained) <= TOLERANCE)) throw differs('it answers its probe otherwise than in training')
}

const differs = (what: string) =>
  conflict('adapter_differs', `the adapter does not fit the base that is served: ${what}; train it on this base`)
