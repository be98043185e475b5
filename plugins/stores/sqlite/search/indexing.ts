/**
 * Takes records into the index and out of it, a turn at a time. Each turn is one transaction, with the place that it got to, so a crash at any
 * point leaves the index as it was before the turn or after it.
 */
import type { DatabaseSync } from 'node:sqlite'
import { SESSION_REFERENCES_MAX, type RecordRow } from '../../../../src/contract/index.ts'
import { excerptOf, factsOfRecord, shownExcerpt } from '../../../../src/excerpts/index.ts'
import { factWord } from '../../common/facts.ts'
import { IN_THE_CLEAR, StoreSeal } from '../../common/seal.ts'
import { BODY_COLUMNS, readWholeBody, WITH_BODY, type BodyColumns } from '../bodies/bodies.ts'
import { WordsChange, Query } from '../query.ts'
import { RECORD_COLUMNS, recordRow, type RecordColumns } from '../rows.ts'
import { indexedText } from './facts.ts'
import { idOf, sequenceOf } from './file.ts'

/** Words of what is encrypted never reach the index. */
const NO_KEYS = new StoreSeal(IN_THE_CLEAR)
const ROWS_PER_TURN = 512
const BYTES_PER_TURN = 8 * 1024 * 1024
/** Reading a larger body would take longer than a turn may: it is found by its facts alone. */
const BODY_BYTES_MAX = 16 * 1024 * 1024
/** Beyond so many kept ones none was evicted: the oldest go first, but for the bases of others, of which the writer keeps a thousand. */
const KEPT_LOOKED_AT_MAX = 4096

interface LiveScenario {
  readonly key: number
  readonly head: number
  /** Bodies that are gone, whatever took them. */
  readonly lost_records: number
  readonly expired_records: number
}

interface IndexedScenario {
  readonly key: number
  readonly place: number
  readonly newest: string
  readonly lost: number
  readonly sweeping: number
  readonly kept: number
}

/** `turn` answers whether it did anything; `forgetOthers` takes out scenarios of another store, such as one from before a backup was restored. */
export function makeIndexing(index: DatabaseSync, records: DatabaseSync) {
  const selectLive = new Query<LiveScenario>(
    records,
    `SELECT key, head, lost_records + expired_records AS lost_records, expired_records FROM scenario WHERE name IS NOT NULL`,
  )
  const selectIndexed = new Query<IndexedScenario>(index, 'SELECT key, place, newest, lost, sweeping, kept FROM scenario')
  const selectId = new Query<{ agent_record_id: string }>(records, 'SELECT agent_record_id FROM record WHERE scenario = ? AND sequence = ?')
  const disown = new WordsChange(index, `UPDATE scenario SET newest = '' WHERE key = ?`)
  const [take, remove, sweep] = [makeTake(index, records), makeRemove(index), makeSweep(index, records)]
  const drop = makeDrop(index)
  /** Where the last turn was, so that a scenario with much to do keeps no other waiting. */
  let last = -1

  return {
    forgetOthers(): void {
      for (const { key, place, newest } of selectIndexed.all()) if (selectId.first(key, place)?.agent_record_id !== newest) disown.run(key)
    },
    turn(): boolean {
      const live = new Map(selectLive.all().map((scenario) => [scenario.key, scenario]))
      const indexed = new Map(selectIndexed.all().map((scenario) => [scenario.key, scenario]))
      const gone = [...indexed.values()].find(({ key, newest }) => !live.has(key) || newest === '')
      if (gone !== undefined) return within(() => remove(gone.key))
      const lossy = [...indexed.values()].find(({ key, lost }) => live.get(key)?.lost_records !== lost)
      if (lossy !== undefined) {
        within(() => sweep(lossy, live.get(lossy.key)))
        drop.again()
      }
      const behind = [...live.values()].filter(({ key, head }) => head > (indexed.get(key)?.place ?? 0))
      const next = behind.find(({ key }) => key > last) ?? behind[0]
      if (next === undefined) return lossy !== undefined || ([...live.values()].some(hasExpired) && drop.turn())
      last = next.key
      return within(() => take(next, indexed.get(next.key)?.place ?? 0))
    },
  }

  function within(work: () => void): true {
    index.exec('BEGIN IMMEDIATE')
    try {
      work()
      index.exec('COMMIT')
      return true
    } catch (error) {
      if (index.isTransaction) index.exec('ROLLBACK')
      throw error
    }
  }
}

interface UnreadColumns extends RecordColumns, BodyColumns {
  readonly is_kept: number
}

function makeTake(index: DatabaseSync, records: DatabaseSync): (scenario: LiveScenario, place: number) => void {
  const selectNext = new Query<UnreadColumns>(
    records,
    `SELECT ${RECORD_COLUMNS}, r.age IS NOT NULL AS is_kept, ${BODY_COLUMNS} FROM record r ${WITH_BODY}
     WHERE r.scenario = ? AND r.sequence > ? AND r.sequence <= ? ORDER BY r.sequence LIMIT ${ROWS_PER_TURN}`,
  )
  const insertDoc = new WordsChange(index, 'INSERT INTO doc (id, created_at, score) VALUES (?, ?, ?)')
  const insertExcerpt = new WordsChange(index, 'INSERT INTO excerpt (id, input, output, tags, cost) VALUES (?, ?, ?, ?, ?)')
  const insertWords = new WordsChange(index, 'INSERT INTO words (rowid, input, output, facts) VALUES (?, ?, ?, ?)')
  const savePlace = new WordsChange(
    index,
    `INSERT INTO scenario (key, place, newest, lost, sweeping, kept) VALUES (?, ?, ?, ?, 0, 0)
     ON CONFLICT (key) DO UPDATE SET place = excluded.place, newest = excluded.newest`,
  )
  const score = makeScore(index, records)

  return ({ key, head, lost_records }, place) => {
    let bytes = 0
    let last: RecordRow | null = null
    for (const columns of selectNext.each(key, place, head)) {
      last = recordRow(columns)
      if (columns.is_kept === 1) bytes += add(key, last, columns)
      if (bytes > BYTES_PER_TURN) break
    }
    if (last !== null) savePlace.run(key, last.sequence, last.agent_record_id, lost_records)
  }

  /** Answers how many bytes were read. */
  function add(key: number, row: RecordRow, columns: BodyColumns): number {
    const bytes = columns.size ?? columns.payload?.byteLength ?? 0
    const payload = bytes > BODY_BYTES_MAX ? null : readWholeBody(NO_KEYS, columns)
    const excerpt = excerptOf(row.request_type, payload ?? new Uint8Array())
    const id = idOf(key, row.sequence)
    const { input, output, tags, cost } = shownExcerpt(excerpt)
    insertDoc.run(id, row.created_at, row.score)
    insertExcerpt.run(id, input, output, Object.keys(tags).length === 0 ? null : JSON.stringify(tags), cost ?? null)
    const facts = factsOfRecord(row, excerpt).map(factWord)
    insertWords.run(id, indexedText(excerpt.input), indexedText(excerpt.output), facts.join(' '))
    score(key, row)
    return bytes
  }
}

/** A report's score is that of the exchanges it quotes, unless they have one of their own. Reports are read in their order, so the newest counts. */
function makeScore(index: DatabaseSync, records: DatabaseSync): (key: number, row: RecordRow) => void {
  const selectQuoted = new Query<{ sequence: number; score: number | null }>(
    records,
    'SELECT sequence, score FROM record WHERE scenario = ? AND agent_record_id = ?',
  )
  const update = new WordsChange(index, 'UPDATE doc SET score = ? WHERE id = ?')
  return (key, { request_type: type, score, references }) => {
    if (type !== 'report' || score === null) return
    for (const id of references.slice(0, SESSION_REFERENCES_MAX)) {
      const quoted = selectQuoted.first(key, id)
      if (quoted !== undefined && quoted.score === null) update.run(score, idOf(key, quoted.sequence))
    }
  }
}

function makeDelete(index: DatabaseSync): (id: number) => void {
  const removals = ['DELETE FROM words WHERE rowid = ?', 'DELETE FROM excerpt WHERE id = ?', 'DELETE FROM doc WHERE id = ?'].map(
    (sql) => new WordsChange(index, sql),
  )
  return (id) => {
    for (const removal of removals) removal.run(id)
  }
}

const hasExpired = ({ expired_records }: LiveScenario): boolean => expired_records > 0

/** Pages of the index that a turn writes anew. */
const PAGES_PER_TURN = 256

/** Of a record that was taken out, the index only notes that it is gone; its words go once the parts that hold them are written anew. */
function makeDrop(index: DatabaseSync): { again(): void; turn(): boolean } {
  const merge = new WordsChange(index, `INSERT INTO words (words, rank) VALUES ('merge', ?)`)
  const countChanges = new Query<{ changes: number }>(index, 'SELECT total_changes() AS changes')
  const changes = (): number => countChanges.first()?.changes ?? 0
  // A run that was killed may have left some.
  let state: 'to begin' | 'under way' | 'over' = 'to begin'
  return {
    again() {
      state = 'to begin'
    },
    /** Answers whether there is more to do. */
    turn() {
      if (state === 'over') return false
      const before = changes()
      // A negative number begins with all parts, however few there are.
      merge.run(state === 'to begin' ? -PAGES_PER_TURN : PAGES_PER_TURN)
      // One change is the command itself.
      state = changes() - before < 2 ? 'over' : 'under way'
      return state === 'under way'
    },
  }
}

/** Takes out a few records of a scenario, and the scenario once there are none. */
function makeRemove(index: DatabaseSync): (key: number) => void {
  const selectDocs = new Query<{ id: number }>(index, `SELECT id FROM doc WHERE id >= ? AND id < ? LIMIT ${ROWS_PER_TURN}`)
  const forget = new WordsChange(index, 'DELETE FROM scenario WHERE key = ?')
  const removeDoc = makeDelete(index)
  return (key) => {
    const docs = selectDocs.all(idOf(key, 0), idOf(key + 1, 0))
    for (const { id } of docs) removeDoc(id)
    if (docs.length === 0) forget.run(key)
  }
}

/** Takes out a few of the records whose bodies were evicted, the oldest first. */
function makeSweep(index: DatabaseSync, records: DatabaseSync): (scenario: IndexedScenario, live: LiveScenario | undefined) => void {
  const selectDocs = new Query<{ id: number }>(
    index,
    `SELECT id FROM doc WHERE id > ? AND id < ? ORDER BY id LIMIT ${ROWS_PER_TURN} OFFSET ?`,
  )
  const selectKept = new Query(records, 'SELECT 1 FROM record WHERE scenario = ? AND sequence = ? AND age IS NOT NULL')
  const save = new WordsChange(index, 'UPDATE scenario SET lost = ?, sweeping = ?, kept = ? WHERE key = ?')
  const removeDoc = makeDelete(index)

  return ({ key, lost: before, sweeping, kept }, live) => {
    // What is lost meanwhile is for the next sweep.
    const lost = kept === 0 ? (live?.lost_records ?? 0) : sweeping
    const docs = selectDocs.all(idOf(key, 0), idOf(key + 1, 0), kept)
    const evicted = docs.filter(({ id }) => selectKept.first(key, sequenceOf(id)) === undefined)
    for (const { id } of evicted) removeDoc(id)
    const keptNow = kept + docs.length - evicted.length
    // An import may be older than what was stored before it, so that age takes bodies in any order.
    const mayEndEarly = live === undefined || !hasExpired(live)
    const isOver = docs.length < ROWS_PER_TURN || (mayEndEarly && keptNow >= KEPT_LOOKED_AT_MAX)
    if (isOver) save.run(lost, 0, 0, key)
    else save.run(before, lost, keptNow, key)
  }
}
