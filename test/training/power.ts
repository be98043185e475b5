/** Intercepts all outgoing calls, so that a test can fail one, simulate a power cut at one, and wait until none is running. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ContentStore, OwnEvolution, ScenarioStore, Store, StoreLease } from '../../src/contract/index.ts'
import { ScenarioFiles } from '../../src/scenarios/index.ts'

/** Calls that can fail once. */
export const BREAKABLE = ['commit', 'pending', 'losses', 'head', 'chain', 'release', 'write', 'read', 'seal'] as const
export type Breakable = (typeof BREAKABLE)[number]

/** More than any command makes. */
const CALLS_AT_REST_MAX = 20_000

export class Power {
  isOn = true
  /** Lost with the power. */
  readonly leases = new Set<StoreLease>()
  readonly #delays: readonly number[]
  readonly #onBreak: () => void
  readonly #broken = new Set<string>()
  #callsLeft: number | null = null
  #isLastDone = false
  #calls = 0
  #running = 0
  #idle = Promise.withResolvers<void>()

  /** Delays of the calls in event-loop turns, repeated cyclically. */
  constructor(delays: readonly number[], onBreak: () => void) {
    this.#delays = delays
    this.#onBreak = onBreak
  }

  /** The next call of that name fails. */
  fail(what: Breakable): void {
    this.#broken.add(what)
  }

  heal(): void {
    this.#broken.clear()
  }

  /** Cuts the power at a later call, which may or may not take effect but never returns. */
  cutAfter(calls: number, isLastDone: boolean): void {
    this.#callsLeft = calls
    this.#isLastDone = isLastDone
  }

  cut(): void {
    this.isOn = false
  }

  async call<T>(what: string, work: () => Promise<T>): Promise<T> {
    this.#refuseWithout()
    this.#calls += 1
    if (this.#broken.delete(what)) {
      this.#onBreak()
      throw new Error(`injected failure: ${what}`)
    }
    if (this.#callsLeft !== null && this.#callsLeft-- === 0) this.isOn = false
    if (!this.isOn && !this.#isLastDone) this.#refuseWithout()
    this.#running += 1
    try {
      for (let turns = this.#delays[this.#calls % this.#delays.length] ?? 0; turns > 0; turns -= 1) await nextTurn()
      return await work()
    } finally {
      this.#running -= 1
      if (this.#running === 0) this.#wake()
      this.#refuseWithout()
    }
  }

  /** Resolves when no call is running or follows: everything else takes less than a turn of the event loop. */
  async quiet(): Promise<void> {
    const callsMax = this.#calls + CALLS_AT_REST_MAX
    for (let before = -1; before !== this.#calls || this.#running > 0;) {
      before = this.#calls
      if (this.#calls > callsMax) throw new Error('the service is never idle')
      if (this.#running > 0) await this.#idle.promise
      await nextTurn()
    }
  }

  #wake(): void {
    this.#idle.resolve()
    this.#idle = Promise.withResolvers()
  }

  #refuseWithout(): void {
    if (!this.isOn) throw new Error('the power is off')
  }
}

/** Reports the durable changes of a scenario. */
export interface Durable {
  appended(scenario: string, records: Parameters<ScenarioStore['append']>[0]): void
  landed(scenario: string, row: Parameters<ScenarioStore['commit']>[0]): void
  archived(scenario: string): void
  pointed(scenario: string, releaseId: string): void
  unpointed(scenario: string): void
}

/** The same object with some methods replaced, and every call through the power except the direct ones. */
function powered<T extends object>(inner: T, power: Power, changes: Partial<T>, direct: readonly string[] = ['close']): T {
  return new Proxy(inner, {
    get(target, name) {
      const method: unknown = Reflect.get(changes, name) ?? Reflect.get(target, name)
      if (typeof method !== 'function') return method
      const run = (...args: readonly unknown[]): unknown => Reflect.apply(method, target, args)
      return direct.includes(String(name)) ? run : (...args: readonly unknown[]) => power.call(String(name), async () => run(...args))
    },
  })
}

export function poweredStore(inner: Store, power: Power, durable: Durable): Store {
  const scenario: Store['scenario'] = (name) => {
    const kept = inner.scenario(name)
    return powered(kept, power, {
      async append(records) {
        const appended = await kept.append(records)
        durable.appended(name, records)
        return appended
      },
      async commit(row, fence) {
        await kept.commit(row, fence)
        durable.landed(name, row)
      },
    })
  }
  const archive: Store['archive'] = async (name) => {
    const place = await inner.archive(name)
    durable.archived(name)
    return place
  }
  const lease: Store['lease'] = async (name) => {
    const taken = await inner.lease(name)
    if (taken === null) return null
    power.leases.add(taken)
    // Without power nothing is given back.
    return { ...taken, release: () => power.call('give back', () => taken.release()).catch(() => undefined) }
  }
  return powered(inner, power, { scenario, archive, lease }, ['scenario', 'onLoss', 'follow', 'verify', 'close'])
}

export function poweredContents(inner: ContentStore, power: Power, durable: Durable): ContentStore {
  return powered(inner, power, {
    async point(scenario, release) {
      await inner.point(scenario, release)
      durable.pointed(scenario, release.release_id)
    },
    async archive(scenario, as) {
      const ref = await inner.archive(scenario, as)
      durable.unpointed(scenario)
      return ref
    },
  })
}

/** Empty settings, read with a delay like every call. */
export class PoweredFiles extends ScenarioFiles {
  readonly #power: Power

  constructor(directory: string, power: Power) {
    super(directory)
    this.#power = power
  }

  override readModel(): Promise<null> {
    return this.#power.call('settings', () => Promise.resolve(null))
  }

  override readEvolution(): Promise<OwnEvolution> {
    return this.#power.call('settings', () => Promise.resolve({}))
  }

  override archive(): Promise<void> {
    return this.#power.call('settings', () => Promise.resolve())
  }
}
