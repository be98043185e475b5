/** Intercepts all outgoing calls, so that a test can fail one, simulate a power cut at one, and wait until none is running. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ContentStore, ScenarioStore, Store } from '../../src/contract/index.ts'
import { ScenarioFiles } from '../../src/scenarios/index.ts'

/** Calls that can fail once. */
export const BREAKABLE = ['commit', 'pending', 'losses', 'write', 'read', 'seal'] as const
export type Breakable = (typeof BREAKABLE)[number]

/** More than any command makes. */
const CALLS_AT_REST_MAX = 20_000

export class Power {
  isOn = true
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

export function poweredStore(inner: Store, power: Power, durable: Durable): Store {
  return {
    scenarios: () => power.call('scenarios', () => inner.scenarios()),
    scenario: (name) => poweredScenario(name, inner.scenario(name), power, durable),
    archive: (name) =>
      power.call('archive', async () => {
        const place = await inner.archive(name)
        durable.archived(name)
        return place
      }),
    usage: () => power.call('usage', () => inner.usage()),
    onLoss: (listener) => inner.onLoss(listener),
    verify: (progress) => inner.verify(progress),
    close: () => inner.close(),
  }
}

function poweredScenario(name: string, inner: ScenarioStore, power: Power, durable: Durable): ScenarioStore {
  return {
    append: (records) =>
      power.call('append', async () => {
        const rows = await inner.append(records)
        durable.appended(name, records)
        return rows
      }),
    types: (ids) => power.call('types', () => inner.types(ids)),
    get: (id) => power.call('get', () => inner.get(id)),
    records: (page) => power.call('records', () => inner.records(page)),
    pending: (page) => power.call('pending', () => inner.pending(page)),
    commit: (row) =>
      power.call('commit', async () => {
        await inner.commit(row)
        durable.landed(name, row)
      }),
    commits: (page) => power.call('commits', () => inner.commits(page)),
    losses: () => power.call('losses', () => inner.losses()),
  }
}

export function poweredContents(inner: ContentStore, power: Power, durable: Durable): ContentStore {
  return {
    write: (content) => power.call('write', () => inner.write(content)),
    read: (contentId) => power.call('read', () => inner.read(contentId)),
    unpack: (contentId) => power.call('unpack', () => inner.unpack(contentId)),
    seal: (contentId, parent, mark) => power.call('seal', () => inner.seal(contentId, parent, mark)),
    find: (releaseId) => power.call('find', () => inner.find(releaseId)),
    point: (scenario, release) =>
      power.call('point', async () => {
        await inner.point(scenario, release)
        durable.pointed(scenario, release.release_id)
      }),
    hold: (release) => power.call('hold', () => inner.hold(release)),
    archive: (scenario, as) =>
      power.call('archive', async () => {
        const ref = await inner.archive(scenario, as)
        durable.unpointed(scenario)
        return ref
      }),
    close: () => inner.close(),
  }
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

  override archive(): Promise<void> {
    return this.#power.call('settings', () => Promise.resolve())
  }
}
