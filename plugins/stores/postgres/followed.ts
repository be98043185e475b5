/** Which step each member serves: written by itself, and waited for by the one that moves a head. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServingMembers } from '../../../src/contract/index.ts'
import type { Database } from './connections.ts'
import { IS_ALIVE, type Membership } from './membership.ts'

/** How often a waiting one looks. Only a person's move waits, so this is seldom. */
const LOOK_AGAIN_MS = 25

const WRITE = `INSERT INTO followed (member, scenario, step) SELECT $1, * FROM unnest($2::bigint[], $3::int[])
  ON CONFLICT (member, scenario) DO UPDATE SET step = greatest(followed.step, excluded.step)`
const BEHIND = `SELECT m.id, m.serves AS name FROM member m LEFT JOIN followed f ON f.member = m.id AND f.scenario = $2
  WHERE m.id <> $1 AND m.serves IS NOT NULL AND ${IS_ALIVE} AND coalesce(f.step, -1) < $3 ORDER BY m.serves, m.id`

interface Lagging {
  readonly id: number
  readonly name: string
}

export class Followed implements ServingMembers {
  readonly #connections: Database
  readonly #membership: Membership
  readonly #keyOf: (scenario: string) => number | undefined
  /** Steps by scenario. */
  readonly #unwritten = new Map<number, number>()
  #writing: Promise<void> | null = null

  constructor(connections: Database, membership: Membership, keyOf: (scenario: string) => number | undefined) {
    this.#connections = connections
    this.#membership = membership
    this.#keyOf = keyOf
  }

  join(name: string): Promise<void> {
    return this.#membership.serveAs(name)
  }

  followed(scenario: string, step: number): void {
    const key = this.#keyOf(scenario)
    if (key === undefined) return
    this.#unwritten.set(key, Math.max(step, this.#unwritten.get(key) ?? 0))
    // What could not be written is not written later: whoever waits says that this one is behind, and the next step is written again.
    this.#writing ??= this.#write()
      .catch(() => undefined)
      .finally(() => (this.#writing = null))
  }

  async idle(): Promise<void> {
    await this.#writing
  }

  async #write(): Promise<void> {
    while (this.#unwritten.size > 0) {
      const steps = [...this.#unwritten]
      this.#unwritten.clear()
      const member = this.#membership.id
      // As another member it is waited for with what lands from then on.
      if (member === null) return
      await this.#connections.rows({
        name: 'followed',
        text: WRITE,
        values: [member, steps.map(([key]) => key), steps.map(([, step]) => step)],
      })
    }
  }

  /** One that joined later reads the rows as they are then. */
  async behind(scenario: string, step: number, milliseconds: number): Promise<readonly string[] | null> {
    const waitedFor = new Set<number>()
    let behind: readonly Lagging[] | null = null
    for (const until = performance.now() + milliseconds; ; await sleep(LOOK_AGAIN_MS)) {
      const found = await this.#look(scenario, step, until - performance.now())
      if (behind === null) for (const { id } of found ?? []) waitedFor.add(id)
      behind = found?.filter(({ id }) => waitedFor.has(id)) ?? behind
      if (behind?.length === 0 || performance.now() + LOOK_AGAIN_MS >= until) return behind?.map(({ name }) => name) ?? null
    }
  }

  /** Null where the database does not answer in time. */
  async #look(scenario: string, step: number, milliseconds: number): Promise<readonly Lagging[] | null> {
    const values = [this.#membership.id ?? 0, this.#keyOf(scenario) ?? 0, step]
    const late = sleep(milliseconds, null, { ref: false })
    return Promise.race([late, this.#connections.rows<Lagging>({ name: 'behind', text: BEHIND, values }).catch(() => null)])
  }
}
