/** The writer's own account of every scenario: newest sequence and bytes kept, in memory, written with the transaction that changed them. */
import type { DatabaseSync } from 'node:sqlite'
import { Bases } from '../bodies/bases.ts'
import { Query } from '../query.ts'
import { noScenario } from '../../../../src/contract/index.ts'

export interface Account {
  readonly key: number
  readonly name: string
  /** An export is under way: nothing new comes in. */
  readonly closing: boolean
  head: number
  bodyBytes: number
  /** Its newest; -1 before its creation row. */
  step: number
}

export class StoreLedger {
  readonly bases = new Bases()
  readonly #accounts = new Map<string, Account>()
  readonly #changed = new Set<Account>()
  readonly #find
  readonly #save
  readonly #totals
  #bodyBytes = 0
  #age = 0
  #known = false

  constructor(db: DatabaseSync) {
    this.#find = new Query<{ key: number; head: number; body_bytes: number; archive: string | null; step: number }>(
      db,
      `SELECT key, head, body_bytes, archive, coalesce((SELECT max(step) FROM commit_row r WHERE r.scenario = s.key), -1) AS step
       FROM scenario s WHERE name = ?`,
    )
    this.#save = db.prepare('UPDATE scenario SET head = ?, body_bytes = ? WHERE key = ?')
    this.#totals = new Query<{ body_bytes: number; age: number }>(
      db,
      `SELECT (SELECT coalesce(sum(body_bytes), 0) FROM scenario WHERE name IS NOT NULL) AS body_bytes,
              (SELECT coalesce(max(age), 0) FROM body) AS age`,
    )
  }

  get bodyBytes(): number {
    this.#load()
    return this.#bodyBytes
  }

  open(name: string): Account {
    const account = this.find(name)
    if (account === null || account.closing) throw noScenario(name)
    return account
  }

  find(name: string): Account | null {
    const known = this.#accounts.get(name)
    if (known !== undefined) return known
    const row = this.#find.first(name)
    if (row === undefined) return null
    const { key, archive, head, body_bytes: bodyBytes, step } = row
    const account = { key, name, closing: archive !== null, head, bodyBytes, step }
    this.#accounts.set(name, account)
    return account
  }

  /** Of the newest body. */
  get age(): number {
    this.#load()
    return this.#age
  }

  nextAge(): number {
    this.#load()
    this.#age += 1
    return this.#age
  }

  change(account: Account, head: number, bodyBytesAdded: number): void {
    this.#load()
    account.head = head
    account.bodyBytes += bodyBytesAdded
    this.#bodyBytes += bodyBytesAdded
    this.#changed.add(account)
  }

  save(): void {
    for (const { head, bodyBytes, key } of this.#changed) this.#save.run(head, bodyBytes, key)
    this.#changed.clear()
  }

  /** After a rollback, or when rows of scenarios changed beside it: only the database knows. */
  forget(): void {
    this.#accounts.clear()
    this.#changed.clear()
    this.#known = false
    this.bases.forget()
  }

  #load(): void {
    if (this.#known) return
    const { body_bytes = 0, age = 0 } = this.#totals.first() ?? {}
    this.#bodyBytes = body_bytes
    this.#age = age
    this.#known = true
  }
}
