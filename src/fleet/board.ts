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
    const result = work({ ...this.#rows, now: this.#now(), keep })
    for (const kept of [this.#payloads, this.#calls]) for (const id of kept.keys()) if (!this.#rows.episodes.has(id)) kept.delete(id)
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

  async called(episode: string, call: CountedCall): Promise<void> {
    if (this.#rows.episodes.has(episode)) this.#calls.set(episode, [...(this.#calls.get(episode) ?? []), call])
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
