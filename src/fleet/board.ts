/** The board of one process alone: in memory, since a step that is done again offers its episodes again. */
import {
  noFleetRows,
  type CountedCall,
  type FleetBoard,
  type FleetRows,
  type JsonObject,
  type LeaseRow,
  type PayloadKind,
} from '../contract/index.ts'

export class MemoryBoard implements FleetBoard {
  readonly #now: () => number
  readonly #rows = noFleetRows()
  readonly #payloads = new Map<string, Map<PayloadKind, JsonObject>>()
  readonly #calls = new Map<string, CountedCall[]>()

  /** In milliseconds; never set back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  async change<T>(work: (rows: FleetRows) => T): Promise<T> {
    const keep: FleetRows['keep'] = (episode, kind, value) => {
      const payloads = this.#payloads.get(episode) ?? new Map<PayloadKind, JsonObject>()
      this.#payloads.set(episode, payloads.set(kind, value))
    }
    const before = [...this.#rows.episodes]
    const result = work({ ...this.#rows, now: this.#now(), keep })
    for (const [id, { left }] of before) {
      if (this.#rows.episodes.has(id)) continue
      this.#payloads.delete(id)
      for (const call of this.#take(id)) if (left !== undefined) this.#add(left, call)
    }
    return result
  }

  async beat(worker: string, lease: string): Promise<boolean> {
    const row = this.#rows.leases.get(lease)
    if (row?.worker !== worker) return false
    row.at = this.#now()
    const known = this.#rows.workers.get(worker)
    if (known !== undefined) known.at = row.at
    return true
  }

  async leaseWith(keyDigest: string): Promise<LeaseRow | null> {
    return [...this.#rows.leases.values()].find(({ key }) => key === keyDigest) ?? null
  }

  async called(episode: string, left: string, call: CountedCall): Promise<void> {
    this.#add(this.#rows.episodes.has(episode) ? episode : left, call)
  }

  #add(under: string, call: CountedCall): void {
    this.#calls.set(under, [...(this.#calls.get(under) ?? []), call])
  }

  async takeCalls(episodes: readonly string[]): Promise<readonly CountedCall[]> {
    return episodes.flatMap((id) => this.#take(id))
  }

  #take(id: string): readonly CountedCall[] {
    const calls = this.#calls.get(id) ?? []
    this.#calls.delete(id)
    return calls
  }

  async calls(episode: string): Promise<readonly CountedCall[]> {
    return this.#calls.get(episode) ?? []
  }

  async payload(episode: string, kind: PayloadKind): Promise<JsonObject | null> {
    return this.#payloads.get(episode)?.get(kind) ?? null
  }

  /** There is no other gateway. */
  onChange(): void {}
}
