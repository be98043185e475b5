/** Copies a closed scenario into a database of its own, while the others go on. */
import { renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { LOCK_WAIT_MS, makeFolder, migrate, RECORDS_FILE, syncPath } from './open.ts'

export interface ExportSettings {
  readonly directory: string
  readonly key: number
  /** Relative to the directory. */
  readonly archive: string
}

export const UNFINISHED_SUFFIX = '.unfinished'

/** Written beside, synced, renamed, folder synced. What comes out is a store of one scenario: as records.sqlite3 it opens like any other. */
export function exportScenario({ directory, key, archive }: ExportSettings): void {
  const path = join(directory, archive)
  const unfinished = path + UNFINISHED_SUFFIX
  makeFolder(dirname(path))
  try {
    copyRows(join(directory, RECORDS_FILE), unfinished, key)
    syncPath(unfinished)
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
  syncPath(dirname(path))
}

function copyRows(from: string, to: string, key: number): void {
  const db = new DatabaseSync(to, { timeout: LOCK_WAIT_MS })
  try {
    // A half-written export is thrown away whole, so it needs no journal on the disk; one left there by a crash would stay for ever.
    db.exec('PRAGMA journal_mode = MEMORY')
    migrate(db)
    db.prepare('ATTACH ? AS source').run(`${pathToFileURL(from).href}?mode=ro`)
    db.exec('BEGIN')
    db.prepare('INSERT INTO scenario SELECT * FROM source.scenario WHERE key = ?').run(key)
    db.exec('UPDATE scenario SET archive = NULL')
    for (const table of ['record', 'commit_row', 'consumed']) {
      db.prepare(`INSERT INTO ${table} SELECT * FROM source.${table} WHERE scenario = ?`).run(key)
    }
    db.prepare('INSERT INTO body SELECT b.* FROM source.record r JOIN source.body b ON b.age = r.age WHERE r.scenario = ?').run(key)
    db.prepare('INSERT INTO body_base SELECT d.* FROM source.record r JOIN source.body_base d ON d.age = r.age WHERE r.scenario = ?').run(
      key,
    )
    db.exec('INSERT INTO seal_key SELECT * FROM source.seal_key')
    db.exec('COMMIT')
  } finally {
    db.close()
  }
}
