/**
 * Removes the records that have a tag, with the reports about them, from every file of the store, while nobody else has it open. Bodies that
 * were stored against a removed one are written anew first. The file is then written anew without the room that was freed, the log is
 * emptied and the index of the search removed, which is made anew at the next start.
 */
import { existsSync, globSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { invalid, type ForgetOrder, type Forgotten, type RecordRow, type SearchedPlace } from '../../../src/contract/index.ts'
import { StoreSeal, type SealSettings } from '../common/seal.ts'
import { hasTag } from '../common/tagged.ts'
import { BODY_COLUMNS, readWholeBody, WITH_BODY, type BodyColumns } from './bodies.ts'
import { ARCHIVE_FOLDER, LOCK_WAIT_MS, migrate, openForWriting, RECORDS_FILE } from './open.ts'
import { Query } from './query.ts'
import { makeDetach } from './remove.ts'
import { RECORD_COLUMNS, recordRow, type RecordColumns } from './rows.ts'
import { removeIndex, SEARCH_FILE } from './search/file.ts'

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
    const places = order.isTrial
      ? []
      : [...placesOf(db, seal, RECORDS_FILE, order), ...archives.flatMap((path) => placesIn(path, seal, order))]
    return { ...added(files), places: order.isTrial ? [] : [...places, ...filesLeft(directory)] }
  } finally {
    close()
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

type Removed = Omit<Forgotten, 'places'>

const added = (all: readonly Removed[]): Removed => ({
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
  const counted = doomed.filter(({ isCounted }) => isCounted)
  const reports = counted.filter(({ row }) => row.request_type === 'report').length
  return {
    ids: counted.map(({ scenario, row }) => ({ scenario, agent_record_id: row.agent_record_id })),
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

/** Answers how many bodies of others were written anew. */
function remove(db: DatabaseSync, seal: StoreSeal, doomed: readonly Doomed[]): number {
  db.exec('PRAGMA secure_delete = ON; CREATE TEMP TABLE doomed (age INTEGER PRIMARY KEY)')
  const mark = db.prepare('INSERT INTO doomed VALUES (?)')
  const empty = db.prepare(
    // The receipt stays, so that the order and the steps that used it stay whole. What was said equals nothing that is sent again.
    `UPDATE record SET digest = randomblob(32), age = NULL, summary = NULL, score = NULL, "references" = NULL WHERE scenario = ? AND sequence = ?`,
  )
  const unsay = db.prepare(
    `UPDATE commit_row SET metrics = json_set(metrics, '$.training_request.text', '', '$.training_request.session', '')
     WHERE scenario = ? AND json_extract(metrics, '$.training_request.id') = ?`,
  )
  db.exec('BEGIN IMMEDIATE')
  try {
    for (const { age } of doomed) if (age !== null) mark.run(age)
    const rewritten = rewriteReferring(db, seal)
    db.exec('DELETE FROM body_base WHERE age IN doomed; DELETE FROM body WHERE age IN doomed')
    for (const { key, row } of doomed) {
      empty.run(key, row.sequence)
      if (row.request_type === 'train') unsay.run(key, row.agent_record_id)
    }
    db.exec('UPDATE scenario SET body_bytes = (SELECT coalesce(sum(length(payload)), 0) FROM body b WHERE b.scenario = scenario.key)')
    db.exec('COMMIT; DROP TABLE doomed')
    return rewritten
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** One at a time: all of them, each with its base, may be more than the memory holds. */
function rewriteReferring(db: DatabaseSync, seal: StoreSeal): number {
  const referring = new Query<{ age: number }>(db, 'SELECT age FROM body_base WHERE base IN doomed AND age NOT IN doomed').all()
  const detach = makeDetach(db, seal)
  for (const { age } of referring) detach(age)
  return referring.length
}

// ── the proof ────────────────────────────────────────────────────────────────────────────────

const placesIn = (path: string, seal: StoreSeal, order: ForgetOrder): readonly SearchedPlace[] =>
  within(path, (db) => placesOf(db, seal, join(ARCHIVE_FOLDER, basename(path)), order))

/** Reads everything once more. */
function placesOf(db: DatabaseSync, seal: StoreSeal, file: string, order: ForgetOrder): readonly SearchedPlace[] {
  const free = new Query<{ freelist_count: number }>(db, 'PRAGMA freelist_count').first()?.freelist_count ?? 0
  const texts = new Query<{ place: string; said: string }>(
    db,
    `SELECT 'rows of records' AS place, agent_record_id || ' ' || coalesce(summary, '') AS said FROM record
     UNION ALL SELECT 'rows of steps', metrics || ' ' || state || ' ' || coalesce(totals, '') FROM commit_row
     UNION ALL SELECT 'audit', entry FROM audit`,
  )
  const mentions = new Map([
    ['rows of records', 0],
    ['rows of steps', 0],
    ['audit', 0],
  ])
  for (const { place, said } of texts.each()) if (order.mentions(said)) mentions.set(place, (mentions.get(place) ?? 0) + 1)
  const { doomed, damaged } = search(db, seal, order)
  return [
    { place: file, searched: 'bodies with the tag, and reports about them', found: doomed.filter(({ age }) => age !== null).length },
    { place: file, searched: 'bodies that are damaged, so that their tags cannot be read', found: damaged },
    { place: file, searched: 'pages that were freed and not overwritten', found: free },
    ...[...mentions].map(([place, found]) => ({ place: file, searched: `the value of the tag in ${place}`, found })),
  ]
}

function filesLeft(directory: string): readonly SearchedPlace[] {
  const bytes = (name: string): number => (existsSync(join(directory, name)) ? statSync(join(directory, name)).size : 0)
  return [
    { place: `${RECORDS_FILE}-wal`, searched: 'bytes in the write-ahead log', found: bytes(`${RECORDS_FILE}-wal`) },
    { place: SEARCH_FILE, searched: 'bytes in the search index', found: bytes(SEARCH_FILE) + bytes(`${SEARCH_FILE}-wal`) },
  ]
}
