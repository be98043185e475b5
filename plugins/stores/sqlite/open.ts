/** Opens the store's files: one process at a time, the right version, durable settings. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Query } from './query.ts'
import { isBusy, newerStore, storeInUse } from './refusals.ts'
import { mkdirpSync } from '../../../src/kit/index.ts'

export const RECORDS_FILE = 'records.sqlite3'
export const ARCHIVE_FOLDER = 'archived'
const LOCK_FILE = 'records.lock'
const SCHEMA_VERSION = 11

const PAGE_BYTES = 4096
/** 16 MiB of log between checkpoints: a quarter as many as the default, still quick to replay after a crash. */
const CHECKPOINT_PAGES = 4000
const CACHE_KIB = 32 * 1024
/** Another program may hold the file for a moment. */
export const LOCK_WAIT_MS = 8000

export function openForWriting(directory: string, lockWaitMs: number) {
  makeFolder(directory)
  const lock = takeLock(join(directory, LOCK_FILE))
  let db: DatabaseSync | undefined
  try {
    const path = join(directory, RECORDS_FILE)
    refuseNewer(path, lockWaitMs)
    db = new DatabaseSync(path, { timeout: lockWaitMs })
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
    db.exec('PRAGMA journal_mode = WAL')
    // Some builds report FULL in WAL mode and sync as NORMAL unless it is set.
    db.exec('PRAGMA synchronous = FULL')
    // Freed room is overwritten. Otherwise it would hold what was removed, and what lay there before it was compressed.
    db.exec('PRAGMA secure_delete = ON')
    db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA cache_size = -${CACHE_KIB}`)
    migrate(db)
    return closing(db, lock)
  } catch (error) {
    db?.close()
    lock.close()
    throw error
  }
}

export function openForReading(directory: string, lockWaitMs = LOCK_WAIT_MS): DatabaseSync {
  return new DatabaseSync(join(directory, RECORDS_FILE), { readOnly: true, timeout: lockWaitMs })
}

/** A folder that is lost with the power takes everything in it along, so each new one is synced into its parent. */
export function makeFolder(folder: string): void {
  const first = mkdirpSync(folder)
  if (first === null) return
  for (let made = resolve(folder); made.length >= first.length; made = dirname(made)) syncPath(dirname(made))
}

export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Brings an empty or older database to the newest schema, one version a transaction. */
export function migrate(db: DatabaseSync): void {
  for (let version = versionOf(db) + 1; version <= SCHEMA_VERSION; version += 1) {
    const sql = readFileSync(new URL(`./schema/${String(version).padStart(4, '0')}.sql`, import.meta.url), 'utf8')
    db.exec(`BEGIN IMMEDIATE;\n${sql}\nPRAGMA user_version = ${version};\nCOMMIT`)
  }
}

/** An exclusive transaction on a file of its own: the system drops it with the process, however that dies. */
function takeLock(path: string): DatabaseSync {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw isBusy(error) ? storeInUse() : error
  }
}

/**
 * Read-only, so that a store of another version or a file that is no store stays as it is. Without a log beside it the file is opened as
 * one that cannot change, because even a reader would leave an empty log behind.
 */
function refuseNewer(path: string, lockWaitMs: number): void {
  if (!existsSync(path)) return
  const db = new DatabaseSync(existsSync(`${path}-wal`) ? path : `${pathToFileURL(path).href}?immutable=1`, {
    readOnly: true,
    timeout: lockWaitMs,
  })
  try {
    const version = versionOf(db)
    if (version > SCHEMA_VERSION) throw newerStore(version, SCHEMA_VERSION)
  } finally {
    db.close()
  }
}

function versionOf(db: DatabaseSync): number {
  return new Query<{ user_version: number }>(db, 'PRAGMA user_version').first()?.user_version ?? 0
}

function closing(db: DatabaseSync, lock: DatabaseSync) {
  return {
    db,
    close: () => {
      // The last connection to close writes the log back into the database.
      db.close()
      lock.close()
    },
  }
}
