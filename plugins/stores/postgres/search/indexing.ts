/**
 * Takes records into the index and archived scenarios out of it, a turn at a time, by one service at a time. A turn is one transaction, with
 * the place that it got to.
 */
import { SESSION_REFERENCES_MAX, type RecordRow } from '../../../../src/contract/index.ts'
import { excerptOf, shownExcerpt } from '../../../../src/excerpts/index.ts'
import type { IndexerTurn } from '../../common/indexer-loop.ts'
import type { Database } from '../connections.ts'
import type { PgClient } from '../library.ts'
import { bytesOf, RECORD_COLUMNS, recordRow, type RecordTuple } from '../rows.ts'
import { factsIn, vectorOf } from './words.ts'

const ROWS_PER_TURN = 256
const BYTES_PER_TURN = 8 * 1024 * 1024
/** Reading a larger body would take longer than a turn may: it is found by its facts alone. */
const BODY_BYTES_MAX = 16 * 1024 * 1024
/** Words of what is encrypted never reach the index. */
const IS_READ = `b.size IS NULL AND octet_length(b.payload) <= ${BODY_BYTES_MAX}`
const SEARCH_LOCK = 0x73_76_63_04

interface NextScenario {
  readonly key: number
  readonly head: number
  readonly place: number
  readonly isArchived: boolean
}

export function makeIndexing(database: Database): () => Promise<IndexerTurn> {
  /** Where the last turn was, so that a scenario with much to do keeps no other waiting. */
  let last = -1
  return () =>
    database.transaction(async (client) => {
      if (!(await isFirst(client))) return 'waiting'
      const scenario = await selectNext(client, last)
      if (scenario === undefined) return 'nothing left'
      last = scenario.key
      // All of it can be made again.
      await client.query({ text: 'SET LOCAL synchronous_commit = off' })
      await (scenario.isArchived ? remove(client, scenario) : take(client, scenario))
      return 'done'
    })
}

async function isFirst(client: PgClient): Promise<boolean> {
  const { rows } = await client.query<{ isFree: boolean }>({
    text: 'SELECT pg_try_advisory_xact_lock($1, hashtext(current_schema())) AS "isFree"',
    values: [SEARCH_LOCK],
  })
  return rows[0]?.isFree === true
}

async function selectNext(client: PgClient, last: number): Promise<NextScenario | undefined> {
  const { rows } = await client.query<NextScenario>({
    text: `SELECT s.key, s.head, coalesce(p.place, 0) AS place, s.name IS NULL AS "isArchived"
           FROM scenario s LEFT JOIN searched p ON p.scenario = s.key
           WHERE CASE WHEN s.name IS NULL THEN p.scenario IS NOT NULL ELSE s.head > coalesce(p.place, 0) END
           ORDER BY s.key <= $1, s.key LIMIT 1`,
    values: [last],
  })
  return rows[0]
}

/** Takes out a few records of a scenario, and the scenario once there are none. */
async function remove(client: PgClient, { key }: NextScenario): Promise<void> {
  const { rowCount } = await client.query({
    text: `DELETE FROM search_entry WHERE age IN (SELECT age FROM search_entry WHERE scenario = $1 LIMIT ${ROWS_PER_TURN})`,
    values: [key],
  })
  if (rowCount === 0) await client.query({ text: 'DELETE FROM searched WHERE scenario = $1', values: [key] })
}

interface UnreadColumns extends RecordTuple {
  readonly age: number
  readonly payload: Buffer | null
}

async function take(client: PgClient, { key, head, place }: NextScenario): Promise<void> {
  const end = await endOfTurn(client, key, place, head)
  const { rows } = await client.query<UnreadColumns>({
    text: `SELECT ${RECORD_COLUMNS}, r.age, CASE WHEN ${IS_READ} THEN b.payload END AS payload
           FROM record r JOIN body b ON b.age = r.age WHERE r.scenario = $1 AND r.sequence > $2 AND r.sequence <= $3 ORDER BY r.sequence`,
    values: [key, place, end],
  })
  const read = rows.map((columns) => entryOf(key, columns))
  await insert(client, key, await stillKept(client, read))
  await score(client, key, read)
  await client.query({
    text: 'INSERT INTO searched (scenario, place) VALUES ($1, $2) ON CONFLICT (scenario) DO UPDATE SET place = excluded.place',
    values: [key, end],
  })
}

/** As many as have few enough bytes, and at least one. The size of a body is known without reading it. */
async function endOfTurn(client: PgClient, key: number, place: number, head: number): Promise<number> {
  const { rows } = await client.query<{ sequence: number; bytes: number }>({
    text: `SELECT r.sequence, coalesce(octet_length(b.payload), 0) AS bytes FROM record r LEFT JOIN body b ON b.age = r.age
           WHERE r.scenario = $1 AND r.sequence > $2 AND r.sequence <= $3 ORDER BY r.sequence LIMIT ${ROWS_PER_TURN}`,
    values: [key, place, head],
  })
  let bytes = 0
  const over = rows.findIndex((row, at) => (bytes += Math.min(row.bytes, BODY_BYTES_MAX)) > BYTES_PER_TURN && at > 0)
  return (over === -1 ? rows.at(-1) : rows[over - 1])?.sequence ?? head
}

interface Entry {
  readonly age: number
  readonly row: RecordRow
  readonly words: string
  readonly facts: readonly string[]
  readonly shown: string
}

function entryOf(key: number, columns: UnreadColumns): Entry {
  const row = recordRow(columns)
  const excerpt = excerptOf(row.request_type, columns.payload ?? new Uint8Array())
  return {
    age: columns.age,
    row,
    words: vectorOf(excerpt),
    facts: factsIn(key, row, excerpt),
    shown: JSON.stringify(shownExcerpt(excerpt)),
  }
}

/** Their bodies are locked, so that one that is removed from now on takes its entry along. */
async function stillKept(client: PgClient, entries: readonly Entry[]): Promise<readonly Entry[]> {
  const { rows } = await client.query<{ age: number }>({
    text: 'SELECT age FROM body WHERE age = ANY($1::bigint[]) ORDER BY age FOR KEY SHARE',
    values: [entries.map(({ age }) => age)],
  })
  const kept = new Set(rows.map(({ age }) => age))
  return entries.filter(({ age }) => kept.has(age))
}

async function insert(client: PgClient, key: number, entries: readonly Entry[]): Promise<void> {
  await client.query({
    text: `INSERT INTO search_entry (age, scenario, sequence, created_at, score, words, facts, shown)
           SELECT e.age, $1, e.sequence, e.created_at, e.score, e.words::tsvector, string_to_array(e.facts, ','), e.shown::json
           FROM unnest($2::bigint[], $3::bigint[], $4::float8[], $5::float8[], $6::text[], $7::text[], $8::text[])
             AS e (age, sequence, created_at, score, words, facts, shown)`,
    values: [
      key,
      entries.map(({ age }) => age),
      entries.map(({ row }) => row.sequence),
      entries.map(({ row }) => row.created_at),
      entries.map(({ row }) => row.score),
      entries.map(({ words }) => words),
      entries.map(({ facts }) => facts.join(',')),
      entries.map(({ shown }) => shown),
    ],
  })
}

/** A report's score is that of the exchanges it quotes, unless they have one of their own. Reports are read in their order, so the newest counts. */
async function score(client: PgClient, key: number, entries: readonly Entry[]): Promise<void> {
  const scores = new Map<string, number>()
  for (const { row } of entries) {
    if (row.request_type !== 'report' || row.score === null) continue
    for (const id of row.references.slice(0, SESSION_REFERENCES_MAX)) scores.set(id, row.score)
  }
  if (scores.size === 0) return
  await client.query({
    text: `UPDATE search_entry e SET score = given.score FROM unnest($2::bytea[], $3::float8[]) AS given (id, score)
           JOIN record r ON r.scenario = $1 AND r.id = given.id AND r.score IS NULL WHERE e.age = r.age`,
    values: [key, [...scores.keys()].map(bytesOf), [...scores.values()]],
  })
}
