/** The records of one scenario: a SQLite database, read row by row and never written. With a write-ahead log next to it, a copy is read. */
import { constants, existsSync, statSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isObject, PENDING_RECORD_BYTES_MAX, type JsonObject } from '../../contract/index.ts'
import { parsed } from './folder.ts'
import { textsIn } from './log.ts'

/** Tables of receipts, with the column of the consumed ids. */
const RECEIPTS = [
  ['compaction_receipts', 'compacted_ids_json'],
  ['record_consumption', 'consumed_ids_json'],
] as const

export class SourceDatabase {
  readonly #db: DatabaseSync
  readonly #copy: string | null

  private constructor(db: DatabaseSync, copy: string | null) {
    // SQLite reads the rest of a truncated file only in this mode.
    db.enableDefensive(false)
    db.exec('PRAGMA writable_schema = ON')
    this.#db = db
    this.#copy = copy
  }

  /** Reading a database with a log would write to both files, so a copy is read. */
  static async open(path: string): Promise<SourceDatabase> {
    const beside = ['-wal', '-journal'].filter((ending) => existsSync(path + ending) && statSync(path + ending).size > 0)
    if (beside.length === 0)
      return new SourceDatabase(new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true }), null)
    const folder = await mkdtemp(join(tmpdir(), 'svc-import-'))
    try {
      const files = [path, ...beside.map((ending) => path + ending)]
      const before = files.map(stampOf)
      for (const file of files) await copyFile(file, join(folder, basename(file)), constants.COPYFILE_FICLONE)
      if (files.map(stampOf).join() !== before.join()) throw new Error('it changes while it is read; stop the service that writes it')
      return new SourceDatabase(new DatabaseSync(join(folder, basename(path))), folder)
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  async close(): Promise<void> {
    this.#db.close()
    if (this.#copy !== null) await rm(this.#copy, { recursive: true, force: true })
  }

  /** The scenario that the first rows name. Throws for a view, which may have endless rows. */
  scenario(): string | null {
    if (!this.#has('agent_record')) throw new Error('it has no table agent_record')
    const row = this.#db.prepare('SELECT scenario FROM agent_record ORDER BY sequence LIMIT 1').get()
    return typeof row?.['scenario'] === 'string' ? row['scenario'] : null
  }

  /** In stored order. */
  *records() {
    const rows = this.#db.prepare(
      `SELECT sequence, agent_record_id, scenario, request_type, created_at, references_json, artifact_json,
         length(CAST(payload_json AS BLOB)) AS bytes,
         CASE WHEN length(CAST(payload_json AS BLOB)) <= ${PENDING_RECORD_BYTES_MAX} THEN CAST(payload_json AS BLOB) END AS payload
       FROM agent_record ORDER BY sequence`,
    )
    for (const row of rows.iterate()) {
      yield {
        sequence: Number(row['sequence']),
        id: textOf(row['agent_record_id']),
        scenario: textOf(row['scenario']),
        type: textOf(row['request_type']),
        createdAt: typeof row['created_at'] === 'number' ? row['created_at'] : null,
        references: textOf(row['references_json']),
        artifact: textOf(row['artifact_json']),
        /** Null when it is larger than any record may be. */
        payload: row['payload'] instanceof Uint8Array ? row['payload'] : null,
        payloadBytes: Number(row['bytes'] ?? 0),
      }
    }
  }

  /** Batches dropped without a step: their records count as consumed. Databases of before 0.1.3 have them in other places. */
  *receipts(scenario: string) {
    for (const [table, column] of RECEIPTS) {
      if (!this.#has(table)) continue
      const rows = this.#db.prepare(
        `SELECT ${column} AS ids, metadata_json, recorded_at FROM ${table} WHERE scenario = ? ORDER BY recorded_at, receipt_id`,
      )
      for (const row of rows.iterate(scenario)) {
        const read = parsed(textOf(row['metadata_json']) ?? '')
        const metadata: JsonObject = isObject(read) ? read : {}
        yield {
          consumed: [...textsIn(parsed(textOf(row['ids']) ?? '')), ...textsIn(metadata['consumed_ids'])],
          metadata,
          recordedAt: typeof row['recorded_at'] === 'number' ? row['recorded_at'] : 0,
        }
      }
    }
    if (this.#db.prepare("SELECT 1 AS found FROM pragma_table_info('agent_record') WHERE name = 'compacted_at'").get() === undefined) return
    const rows = this.#db.prepare('SELECT agent_record_id, compacted_at FROM agent_record WHERE scenario = ? AND compacted_at IS NOT NULL')
    const retired = [...rows.iterate(scenario)]
    const recordedAt = retired.reduce((latest, row) => Math.max(latest, Number(row['compacted_at'])), 0)
    if (retired.length > 0) yield { consumed: retired.flatMap((row) => textOf(row['agent_record_id']) ?? []), metadata: {}, recordedAt }
  }

  /** `fingerprints`: ids kept with a digest only, so that resends are recognised. */
  evicted(scenario: string) {
    const totals = this.#has('record_eviction')
      ? this.#db.prepare('SELECT record_count AS n, body_bytes AS bytes FROM record_eviction WHERE scenario = ?').get(scenario)
      : undefined
    const prints = this.#has('consumed_agent_record')
      ? this.#db.prepare('SELECT count(*) AS n FROM consumed_agent_record').get()
      : undefined
    return { records: Number(totals?.['n'] ?? 0), bytes: Number(totals?.['bytes'] ?? 0), fingerprints: Number(prints?.['n'] ?? 0) }
  }

  #has(table: string): boolean {
    return this.#db.prepare("SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function stampOf(path: string): string {
  const { size, mtimeMs } = statSync(path)
  return `${size} ${mtimeMs}`
}
