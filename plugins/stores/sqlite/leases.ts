/** The writer's leases: tokens are in the database and only rise, holders are in memory. */
import type { DatabaseSync } from 'node:sqlite'
import { leaseLost, type Fence } from '../../../src/contract/index.ts'
import { Query } from './query.ts'

export class StoreLeases {
  /** The token of each holder. One that is not the newest in the database was taken in a transaction that failed, and counts for nothing. */
  readonly #held = new Map<string, number>()
  readonly #find
  readonly #raise

  constructor(db: DatabaseSync) {
    this.#find = new Query<{ token: number }>(db, 'SELECT token FROM lease WHERE name = ?')
    this.#raise = db.prepare('INSERT INTO lease (name, token) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET token = excluded.token')
  }

  /** Inside a transaction. Null while it is held. */
  take(name: string): number | null {
    const newest = this.#find.first(name)?.token ?? 0
    if (this.#held.get(name) === newest) return null
    const token = newest + 1
    this.#raise.run(name, token)
    this.#held.set(name, token)
    return token
  }

  /** Writes nothing, so that a disk that is full holds no lease. */
  release({ name, token }: Fence): null {
    if (this.#held.get(name) === token) this.#held.delete(name)
    return null
  }

  check({ name, token }: Fence): void {
    if (this.#find.first(name)?.token !== token) throw leaseLost(name)
  }
}
