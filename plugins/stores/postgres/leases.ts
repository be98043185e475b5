/** Leases that this process holds. The tokens are in the database and only rise. */
import { unavailable, type StoreLease } from '../../../src/contract/index.ts'
import { LaneByName } from '../../../src/kit/index.ts'
import type { Database } from './connections.ts'
import type { PgClient } from './library.ts'
import { IS_ALIVE } from './membership.ts'
import { bytesOf } from './rows.ts'

interface Held {
  readonly token: number
  readonly member: number
  readonly holder: AbortController
}

export class MemberLeases {
  readonly #connections: Database
  readonly #held = new Map<string, Held>()
  readonly #takings = new LaneByName()
  /** Given up here, and not yet in the database. */
  readonly #releasing = new Map<string, Held>()

  constructor(connections: Database) {
    this.#connections = connections
  }

  /** One taking of a name at a time: what the database says of us is then what we know. */
  take(name: string, memberNow: () => number | null): Promise<StoreLease | null> {
    return this.#takings.run(name, () => this.#take(name, memberNow()))
  }

  async #take(name: string, member: number | null): Promise<StoreLease | null> {
    if (member === null)
      throw unavailable('store_unreachable', 'PostgreSQL did not answer for a while; leases can be taken once it does', {
        retryAfterSeconds: 1,
      })
    if (this.#held.has(name)) return null
    const token = await this.#connections.transaction((client) => takeToken(client, name, member))
    if (token === null) return null
    const held: Held = { token, member, holder: new AbortController() }
    this.#held.set(name, held)
    return { name, token, signal: held.holder.signal, release: () => this.#release(name, held) }
  }

  /** Another one may have them: the database is not asked. */
  loseAll(): void {
    const lost = [...this.#held.values()]
    this.#held.clear()
    this.#releasing.clear()
    for (const { holder } of lost) holder.abort()
  }

  /** Those that could not be released when they were. */
  async releaseAgain(): Promise<void> {
    for (const [name, held] of this.#releasing) await this.#release(name, held)
  }

  /** Where the database does not answer, it is released with the next beat. */
  async #release(name: string, held: Held): Promise<void> {
    const isHeld = this.#held.get(name) === held
    if (!isHeld && this.#releasing.get(name) !== held) return
    if (isHeld) this.#held.delete(name)
    this.#releasing.set(name, held)
    try {
      await this.#connections.rows({
        text: 'UPDATE lease SET member = NULL WHERE name = $1 AND token = $2 AND member = $3',
        values: [bytesOf(name), held.token, held.member],
      })
      if (this.#releasing.get(name) === held) this.#releasing.delete(name)
    } catch {
      // Kept for the next beat.
    }
  }
}

/** The row is locked before anybody's beat is read, so that the answer is of now. */
async function takeToken(client: PgClient, name: string, member: number): Promise<number | null> {
  const bytes = bytesOf(name)
  await client.query({ text: 'INSERT INTO lease (name, token) VALUES ($1, 0) ON CONFLICT DO NOTHING', values: [bytes] })
  const { rows } = await client.query<{ member: number | null; token: number }>({
    text: 'SELECT member, token FROM lease WHERE name = $1 FOR UPDATE',
    values: [bytes],
  })
  const [lease] = rows
  // One of ours is held by nobody here: it is being released, or its taking was answered to nobody.
  if (lease !== undefined && lease.member !== null && lease.member !== member && (await isAlive(client, lease.member))) return null
  const { rows: taken } = await client.query<{ token: number }>({
    text: 'UPDATE lease SET member = $2, token = token + 1 WHERE name = $1 RETURNING token',
    values: [bytes, member],
  })
  return taken[0]?.token ?? null
}

async function isAlive(client: PgClient, member: number): Promise<boolean> {
  const { rows } = await client.query({ text: `SELECT 1 FROM member WHERE id = $1 AND ${IS_ALIVE}`, values: [member] })
  return rows.length > 0
}
