/** A prepared statement that reads, with the type of its rows: the one place where SQLite's columns get their types. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/** The key of the scenario of that name. */
export const KEY = '(SELECT key FROM scenario WHERE name = ?)'

export class Query<Row> {
  readonly #statement: StatementSync

  constructor(db: DatabaseSync, sql: string) {
    this.#statement = db.prepare(sql)
  }

  first(...values: SQLInputValue[]): Row | undefined {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema's strict columns are the proof
    return this.#statement.get(...values) as Row | undefined
  }

  all(...values: SQLInputValue[]): Row[] {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return this.#statement.all(...values) as Row[]
  }

  /** One row in memory at a time. Nothing may be written to its tables on this connection before the last one. */
  each(...values: SQLInputValue[]): Iterable<Row> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return this.#statement.iterate(...values) as Iterable<Row>
  }
}

/** A prepared statement that writes to tables of words: SQLite numbers their rows higher than a number of JavaScript counts, which `run` would refuse to answer. */
export class WordsChange {
  readonly #statement: StatementSync

  constructor(db: DatabaseSync, sql: string) {
    this.#statement = db.prepare(sql)
    this.#statement.setReadBigInts(true)
  }

  run(...values: SQLInputValue[]): void {
    this.#statement.run(...values)
  }
}
