/**
 * Removes the records that have a tag, with the reports about them, from every file of the store, while nobody else has it open. Bodies that
 * were stored against a removed one are written anew first. The file is then written anew without the room that was freed, the log is
 * emptied and the index of the search removed, which is made anew at the next start. `forget-open.ts` does the same while it is open.
 */
import { existsSync, globSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  invalid,
  type ForgetOrder,
  type Forgotten,
  type ForgottenRecord,
  type RecordRow,
  type SearchedPlace,
} from '../../../../src/contract/index.ts'
import { mentionsOf } from '../../../../src/kit/index.ts'
import { StoreSeal, type SealSettings } from '../../common/seal.ts'
import { hasTag } from '../../common/tagged.ts'
import { makeEmptyRecord } from '../writing/empty-record.ts'
import { BODY_COLUMNS, readWholeBody, WITH_BODY, type BodyColumns } from '../bodies/bodies.ts'
import { dirtyFreePages } from './free-pages.ts'
import { ARCHIVE_FOLDER, LOCK_WAIT_MS, migrate, openForReading, openForWriting, RECORDS_FILE } from '../open.ts'
import { Query } from '../query.ts'
import { RECORD_COLUMNS, recordRow, type RecordColumns } from '../rows.ts'
import { removeIndex, SEARCH_FILE } from '../search/file.ts'

/** Removes nothing in a trial: the counts say what would go. */
export function forgetTag(directory: string, settings: SealSettings, order: ForgetOrder): Forgotten {
  const seal = new StoreSeal(settings)
  if (!existsSync(join(directory, RECORDS_FILE))) throw invalid('no_store', `there are no records in ${directory}; name their folder`)
  const { db, close } = openForWriting(directory, LOCK_WAIT_MS)
  try {
    const archives = archivesIn(directory)
    // First, so that a run that is killed leaves no index of what it removed.
    if (!order.isTrial) removeIndex(directory)
    const files = [forgetIn(db, seal, order), ...archives.map((path) => within(path, (archive) => forgetIn(archive, seal, order)))]
    const places = order.isTrial ? [] : [...placesIn(db, directory, seal, order), logLeft(directory), ...indexLeft(directory)]
    return { ...added(files), places }
  } finally {
    close()
  }
}

/** What is found of the tag in the records, for the writer to remove, while others use them. */
export function findTagged(directory: string, settings: SealSettings, order: ForgetOrder): TaggedRecords {
  const db = openForReading(directory)
  try {
    const { doomed } = search(db, new StoreSeal(settings), order)
    return { ...countsOf(doomed, 0), withBodies: doomed.filter(({ age, isCounted }) => isCounted && age !== null).map(idOf) }
  } finally {
    db.close()
  }
}

/** Archives are open nowhere, so they are written anew at once. */
export function forgetArchived(directory: string, settings: SealSettings, order: ForgetOrder): Removed {
  const seal = new StoreSeal(settings)
  return added(archivesIn(directory).map((path) => within(path, (archive) => forgetIn(archive, seal, order))))
}

/** Empties the log and looks again, while others use the records. Their log grows again at once: what counts is that it was emptied. */
export function proveForgotten(directory: string, settings: SealSettings, order: ForgetOrder): readonly SearchedPlace[] {
  const db = new DatabaseSync(join(directory, RECORDS_FILE), { timeout: LOCK_WAIT_MS })
  try {
    const emptied = new Query<{ busy: number }>(db, 'PRAGMA wal_checkpoint(TRUNCATE)').first()
    const log = { place: LOG_FILE, searched: 'pages of before in the write-ahead log', found: emptied?.busy === 0 ? 0 : 1 }
    return [...placesIn(db, directory, new StoreSeal(settings), order), log]
  } finally {
    db.close()
  }
}

const archivesIn = (directory: string): readonly string[] => globSync(join(directory, ARCHIVE_FOLDER, '*.sqlite3'))

function within<T>(path: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path, { timeout: LOCK_WAIT_MS })
  try {
    migrate(db)
    return work(db)
  } finally {
    db.close()
  }
}

export type Removed = Omit<Forgotten, 'places'>
export interface TaggedRecords extends Removed {
  /** Those whose bodies are there. */
  readonly withBodies: readonly ForgottenRecord[]
}

export const added = (all: readonly Removed[]): Removed => ({
  ids: all.flatMap(({ ids }) => ids),
  records: all.reduce((sum, { records }) => sum + records, 0),
  reports: all.reduce((sum, { reports }) => sum + reports, 0),
  rewritten: all.reduce((sum, { rewritten }) => sum + rewritten, 0),
  scenarios: [...new Set(all.flatMap(({ scenarios }) => scenarios))].toSorted(),
})

interface Doomed {
  readonly key: number
  readonly scenario: string
  readonly row: RecordRow
  readonly age: number | null
  /** False for rows of an archived scenario that are on their way out: they are counted in its archive. */
  readonly isCounted: boolean
}

function forgetIn(db: DatabaseSync, seal: StoreSeal, order: ForgetOrder): Removed {
  const { doomed } = search(db, seal, order)
  const rewritten = order.isTrial || doomed.length === 0 ? 0 : remove(db, seal, doomed)
  // Also where nothing was found: eviction, or a run that was killed here, left what was removed in freed pages.
  if (!order.isTrial) db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  return countsOf(doomed, rewritten)
}

const idOf = ({ scenario, row: { agent_record_id, sequence } }: Doomed): ForgottenRecord => ({ scenario, agent_record_id, sequence })

function countsOf(doomed: readonly Doomed[], rewritten: number): Removed {
  const counted = doomed.filter(({ isCounted }) => isCounted)
  const reports = counted.filter(({ row }) => row.request_type === 'report').length
  return {
    ids: counted.map(idOf),
    records: counted.length - reports,
    reports,
    rewritten,
    scenarios: [...new Set(counted.map(({ scenario }) => scenario))],
  }
}

interface ReadColumns extends RecordColumns, BodyColumns {
  readonly key: number
  readonly name: string | null
  readonly age: number | null
}

interface Found {
  readonly doomed: readonly Doomed[]
  /** How many bodies could not be read, and so may have the tag. */
  readonly damaged: number
}

/** A report comes after the exchanges that it quotes, so one reading in order finds both. */
function search(db: DatabaseSync, seal: StoreSeal, order: ForgetOrder): Found {
  const all = new Query<ReadColumns>(
    db,
    `SELECT s.key, s.name, r.age, ${RECORD_COLUMNS}, ${BODY_COLUMNS}
     FROM scenario s JOIN record r ON r.scenario = s.key ${WITH_BODY} ORDER BY s.key, r.sequence`,
  )
  const doomed: Doomed[] = []
  const ids = new Set<string>()
  let damaged = 0
  for (const columns of all.each()) {
    const row = recordRow(columns)
    const isQuoting = row.references.some((id) => ids.has(`${columns.key} ${id}`))
    const payload = isQuoting ? null : readWholeBody(seal, columns)
    if (!isQuoting && !hasTag(row, payload, order)) {
      if (payload === null && columns.age !== null) damaged += 1
      continue
    }
    ids.add(`${columns.key} ${row.agent_record_id}`)
    doomed.push({ key: columns.key, scenario: columns.name ?? '', row, age: columns.age, isCounted: columns.name !== null })
  }
  return { doomed, damaged }
}

/** The newest first, so that what refers to one of them is gone before it. Answers how many bodies of others were written anew. */
function remove(db: DatabaseSync, seal: StoreSeal, doomed: readonly Doomed[]): number {
  db.exec('PRAGMA secure_delete = ON')
  const empty = makeEmptyRecord(db, seal)
  let rewritten = 0
  db.exec('BEGIN IMMEDIATE')
  try {
    for (const { key, row } of doomed.toReversed()) rewritten += empty(key, row.sequence)?.rewritten ?? 0
    db.exec('UPDATE scenario SET body_bytes = (SELECT coalesce(sum(length(payload)), 0) FROM body b WHERE b.scenario = scenario.key)')
    db.exec('COMMIT')
    return rewritten
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

// ── the proof ────────────────────────────────────────────────────────────────────────────────

const placesIn = (db: DatabaseSync, directory: string, seal: StoreSeal, order: ForgetOrder): readonly SearchedPlace[] => [
  ...placesOf(db, seal, join(directory, RECORDS_FILE), RECORDS_FILE, order),
  ...archivesIn(directory).flatMap((path) =>
    within(path, (archive) => placesOf(archive, seal, path, join(ARCHIVE_FOLDER, basename(path)), order)),
  ),
]

/** Reads everything once more. */
function placesOf(db: DatabaseSync, seal: StoreSeal, path: string, file: string, order: ForgetOrder): readonly SearchedPlace[] {
  const texts = new Query<{ place: string; said: string }>(
    db,
    `SELECT 'rows of records' AS place, agent_record_id || ' ' || coalesce(summary, '') AS said FROM record
     UNION ALL SELECT 'rows of steps', metrics || ' ' || state || ' ' || coalesce(totals, '') FROM commit_row
     UNION ALL SELECT 'audit', entry FROM audit`,
  )
  const isMentioned = mentionsOf(order.tag[1])
  const mentions = new Map([
    ['rows of records', 0],
    ['rows of steps', 0],
    ['audit', 0],
  ])
  for (const { place, said } of texts.each()) if (isMentioned(said)) mentions.set(place, (mentions.get(place) ?? 0) + 1)
  const { doomed, damaged } = search(db, seal, order)
  return [
    { place: file, searched: 'bodies with the tag, and reports about them', found: doomed.filter(({ age }) => age !== null).length },
    { place: file, searched: 'bodies that are damaged, so that their tags cannot be read', found: damaged },
    { place: file, searched: 'pages that were freed and not overwritten', found: dirtyFreePages(path) },
    ...[...mentions].map(([place, found]) => ({ place: file, searched: `the value of the tag in ${place}`, found })),
  ]
}

const bytesIn = (directory: string, name: string): number => (existsSync(join(directory, name)) ? statSync(join(directory, name)).size : 0)

const LOG_FILE = `${RECORDS_FILE}-wal`
const logLeft = (directory: string): SearchedPlace => ({
  place: LOG_FILE,
  searched: 'bytes in the write-ahead log',
  found: bytesIn(directory, LOG_FILE),
})

export const indexLeft = (directory: string): readonly SearchedPlace[] => [
  {
    place: SEARCH_FILE,
    searched: 'bytes in the search index',
    found: bytesIn(directory, SEARCH_FILE) + bytesIn(directory, `${SEARCH_FILE}-wal`),
  },
]
