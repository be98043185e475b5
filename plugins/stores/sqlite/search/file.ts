/**
 * The index of the search, in a file of its own beside the records. Everything in it follows from them: it may be removed while the store is
 * closed, and is made anew. Writing it takes no lock that a record waits for, and it needs no sync.
 */
import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Query } from '../query.ts'
import { isDamage } from '../refusals.ts'

export const SEARCH_FILE = 'search.sqlite3'
const VERSION = 1
/** The searcher reads while the indexer writes; neither waits long. */
const LOCK_WAIT_MS = 5000
const CACHE_KIB = 16 * 1024

/**
 * A record is known by its scenario's key and its sequence, as one number: the records of a scenario lie together, in their order. What is
 * small and compared is apart from what is only shown.
 */
const SCHEMA = `
  CREATE TABLE scenario (
    key INTEGER PRIMARY KEY,
    place INTEGER NOT NULL,      -- records up to this sequence are here
    newest TEXT NOT NULL,        -- the id of the record at that place
    lost INTEGER NOT NULL,       -- how many of its bodies were evicted when a sweep last began that is over
    sweeping INTEGER NOT NULL,   -- the same of the sweep that is under way
    kept INTEGER NOT NULL        -- how many of the oldest it has found to be kept so far
  ) STRICT;
  CREATE TABLE doc (id INTEGER PRIMARY KEY, created_at REAL NOT NULL, score REAL) STRICT;
  CREATE TABLE excerpt (id INTEGER PRIMARY KEY, input TEXT NOT NULL, output TEXT NOT NULL, tags TEXT, cost REAL) STRICT;
  CREATE VIRTUAL TABLE words USING fts5(input, output, facts, content = '', contentless_delete = 1, tokenize = 'ascii');
  PRAGMA user_version = ${VERSION};
`

/** Made anew where there is none, where another version made it, and where it is damaged. */
export function openForIndexing(directory: string): DatabaseSync {
  try {
    const db = openVersion(directory, connect)
    if (db !== null) return db
  } catch (error) {
    if (!isDamage(error)) throw error
  }
  removeIndex(directory)
  const db = connect(join(directory, SEARCH_FILE))
  db.exec(`BEGIN IMMEDIATE;${SCHEMA}COMMIT`)
  return db
}

function connect(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: LOCK_WAIT_MS })
  try {
    // What is taken out is overwritten: it may have gone for its age.
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -${CACHE_KIB}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export function removeIndex(directory: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(directory, SEARCH_FILE + suffix), { force: true })
}

/** Another one for every file that is made under the index's name. The file goes before those that SQLite keeps beside it. */
export function indexIdentity(directory: string): string | null {
  const file = statSync(join(directory, SEARCH_FILE), { bigint: true, throwIfNoEntry: false })
  return file === undefined ? null : `${file.ino} ${file.birthtimeNs}`
}

/** Null where there is none of this version yet. */
export function openForSearching(directory: string): DatabaseSync | null {
  return openVersion(directory, (path) => new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS }))
}

function openVersion(directory: string, openFile: (path: string) => DatabaseSync): DatabaseSync | null {
  const path = join(directory, SEARCH_FILE)
  if (!existsSync(path)) return null
  const db = openFile(path)
  try {
    if (versionOf(db) === VERSION) return db
  } catch (error) {
    db.close()
    throw error
  }
  db.close()
  return null
}

const versionOf = (db: DatabaseSync): number | undefined =>
  new Query<{ user_version: number }>(db, 'PRAGMA user_version').first()?.user_version

/** Sequences are below it. */
const SEQUENCES_MAX = 2 ** 32
export const idOf = (key: number, sequence: number): number => key * SEQUENCES_MAX + sequence
export const sequenceOf = (id: number): number => id % SEQUENCES_MAX
