/** The writer's leases: tokens are in the database and only rise, holders are in memory. */
import type { DatabaseSync } from 'node:sqlite'
import type { MessagePort } from 'node:worker_threads'
import { leaseLost, type Fence } from '../../../../src/contract/index.ts'
import { Query } from '../query.ts'

export class StoreLeases {
  /** A token that is not the newest in the database was taken in a transaction that failed, and counts for nothing. */
  readonly #held = new Map<string, { readonly token: number; readonly holder: MessagePort }>()
  readonly #find
  readonly #raise

  constructor(db: DatabaseSync) {
    this.#find = new Query<{ token: number }>(db, 'SELECT token FROM lease WHERE name = ?')
    this.#raise = db.prepare('INSERT INTO lease (name, token) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET token = excluded.token')
  }

  /** Inside a transaction. Null while it is held. */
  take(name: string, holder: MessagePort): number | null {
    const newest = this.#find.first(name)?.token ?? 0
    if (this.#held.get(name)?.token === newest) return null
    const token = newest + 1
    this.#raise.run(name, token)
    this.#held.set(name, { token, holder })
    return token
  }

  /** Writes nothing, so that a disk that is full holds no lease. */
  release({ name, token }: Fence): null {
    if (this.#held.get(name)?.token === token) this.#held.delete(name)
    return null
  }

  releaseAll(holder: MessagePort): void {
    for (const [name, held] of this.#held) if (held.holder === holder) this.#held.delete(name)
  }

  check({ name, token }: Fence): void {
    if (this.#find.first(name)?.token !== token) throw leaseLost(name)
  }
}
