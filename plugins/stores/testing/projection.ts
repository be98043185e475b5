/** What a follower knows of a store: read once, and from then on only by what it is told and what that makes it read. */
import { isRefusal, type Store, type StoreChange, type TrainingMode } from '../../../src/contract/index.ts'

const PAGE_ROWS = 7

export interface ProjectedScenario {
  step: number
  records: number
  mode: TrainingMode | null
}

export class Projection {
  readonly #store: Store
  readonly #views = new Map<string, ProjectedScenario>()
  readonly #reading = new Set<Promise<void>>()
  readonly #lastMode = new WeakMap<ProjectedScenario, Promise<void>>()
  readonly #stop: () => void

  /** Follows before it reads, so that nothing is missed between. */
  constructor(store: Store) {
    this.#store = store
    this.#stop = store.follow((change) => this.#hear(change))
    this.#track(this.#readNames())
  }

  /** Once every read is over that a change asked for. */
  async shown(): Promise<Readonly<Record<string, ProjectedScenario>>> {
    while (this.#reading.size > 0) await Promise.all(this.#reading)
    const names = [...this.#views].map(([name, view]) => [name, { ...view }] as const)
    return Object.fromEntries(names.sort(([x], [y]) => (x < y ? -1 : 1)))
  }

  async stop(): Promise<void> {
    this.#stop()
    await this.shown()
  }

  #hear(change: StoreChange): void {
    if (change.kind === 'tokens') return
    const view = this.#views.get(change.scenario)
    if (change.kind === 'created') return this.#enter(change.scenario, 0)
    if (change.kind === 'archived') return void this.#views.delete(change.scenario)
    if (view === undefined) return
    if (change.kind === 'landed') view.step = Math.max(view.step, change.step)
    if (change.kind === 'settings') this.#track(this.#readMode(change.scenario, view))
    if (change.kind === 'appended') this.#track(this.#readRecords(change.scenario, view))
  }

  async #readNames(): Promise<void> {
    for (const name of await this.#store.scenarios()) {
      if (this.#views.has(name)) continue
      this.#enter(name, -1)
      const view = this.#views.get(name)
      const [newest] = await this.#store.scenario(name).commits({ before: Number.MAX_SAFE_INTEGER, limit: 1 })
      if (view === undefined || view !== this.#views.get(name)) continue
      // Archived between the two reads.
      if (newest === undefined) this.#views.delete(name)
      else view.step = Math.max(view.step, newest.step)
    }
  }

  /** A view of its own for each life of the name: what an earlier one still reads goes nowhere. */
  #enter(name: string, step: number): void {
    const view: ProjectedScenario = { step, records: 0, mode: null }
    this.#views.set(name, view)
    this.#track(this.#readMode(name, view))
    this.#track(this.#readRecords(name, view))
  }

  /** One after the other, as a gateway reads them: the answers to two at once may cross. */
  #readMode(name: string, view: ProjectedScenario): Promise<void> {
    const read = async (): Promise<void> => {
      const { training_mode } = await this.#store.scenario(name).settings()
      view.mode = training_mode
    }
    const before = this.#lastMode.get(view) ?? Promise.resolve()
    const reading = before.then(read, read)
    this.#lastMode.set(view, reading)
    return reading
  }

  async #readRecords(name: string, view: ProjectedScenario): Promise<void> {
    for (;;) {
      const rows = await this.#store.scenario(name).records({ after: view.records, limit: PAGE_ROWS })
      const newest = rows.at(-1)
      if (newest === undefined) return
      view.records = Math.max(view.records, newest.sequence)
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.catch(ignoreClosed).finally(() => this.#reading.delete(tracked))
    this.#reading.add(tracked)
  }
}

/** A follower that stops reads no further. */
function ignoreClosed(error: unknown): void {
  if (!isRefusal(error) || error.code !== 'store_closed') throw error
}
