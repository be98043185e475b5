/** Answers searches out of the index, and reads what it does not have yet from the bodies. */
import type { FoundRecords, ListedRecord, RecordExcerpt, SearchQuery } from '../../../../src/contract/index.ts'
import { excerptOf, shownExcerpt } from '../../../../src/excerpts/index.ts'
import { codeOf } from '../../../../src/kit/index.ts'
import type { StoreSeal } from '../../common/seal.ts'
import type { Database } from '../connections.ts'
import type { PgClient, SqlValue } from '../library.ts'
import { bytesOf, RECORD_COLUMNS, recordRow, type RecordTuple } from '../rows.ts'
import { openWhole, type KeptBody } from '../sealed.ts'
import { factsAsked, questionOf } from './words.ts'

/**
 * How many of the newest records are looked through first, and how long the index is asked after that. The first page comes at once. Who goes
 * on further back waits longer, so that a slow server needs few pages.
 */
export interface Patience {
  readonly lookedThrough: number
  readonly indexMs: number
}
const FIRST_PAGE: Patience = { lookedThrough: 2000, indexMs: 120 }
const LATER_PAGE: Patience = { lookedThrough: 5000, indexMs: 1000 }
const LOOK_THROUGH_MS_MAX = 10_000
/** A link that is cut without a word. */
const ANSWER_MS_MAX = 15_000
const CANCELED = '57014'
/** Bodies that one page of excerpts may read, where the index has none yet: they are read by the thread that serves. */
const BODIES_BYTES_MAX = 2 * 1024 * 1024

interface SearchedScenario {
  readonly key: number
  readonly head: number
  readonly place: number
}

interface EntryColumns {
  readonly shown: RecordExcerpt
  readonly entry_score: number | null
}

/**
 * What many records have is among the newest, and what few have is found by the index. The server cannot tell which of the two a word is: it
 * may read a million records in their order for a word that one of them has. So the newest are looked through first, then the index is asked.
 */
export async function find(database: Database, name: string, query: SearchQuery, given?: Patience): Promise<FoundRecords> {
  const [scenario] = await database.rows<SearchedScenario>({
    text: 'SELECT s.key, s.head, coalesce(p.place, 0) AS place FROM scenario s LEFT JOIN searched p ON p.scenario = s.key WHERE s.name = $1',
    values: [bytesOf(name)],
  })
  if (scenario === undefined) return { rows: [], next: null, waiting: 0 }
  const waiting = Math.max(0, scenario.head - scenario.place)
  const { lookedThrough, indexMs } = given ?? (query.before > scenario.place ? FIRST_PAGE : LATER_PAGE)
  const newest = Math.min(query.before - 1, scenario.place)
  const highest = query.until === undefined ? newest : await newestUntil(database, scenario.key, query.until, { newest, indexMs })
  const lowest = Math.max(1, highest - lookedThrough + 1)
  const near = await findPage(database, scenario.key, query, { highest, lowest, withinMs: LOOK_THROUGH_MS_MAX })
  if (near.next !== null || lowest === 1) return { ...near, waiting }
  const whole = await unlessLate(findPage(database, scenario.key, query, { highest, lowest: 1, withinMs: indexMs, byIndex: true }))
  return { ...(whole ?? { ...near, next: lowest }), waiting }
}

/** Null once the server has given it up. */
async function unlessLate<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (codeOf(error) === CANCELED) return null
    throw error
  }
}

/** The newest record of that time or before it. The sum keeps the server from reading records in their order until one fits. */
async function newestUntil(database: Database, key: number, until: number, { newest, indexMs }: { newest: number; indexMs: number }) {
  const found = await unlessLate(
    database.rawTransaction(async (client) => {
      await client.query({ text: `SET LOCAL statement_timeout = ${indexMs}` })
      const { rows } = await client.query<{ sequence: number | null }>({
        text: 'SELECT max(sequence + 0) AS sequence FROM search_entry WHERE scenario = $1 AND created_at <= $2',
        values: [key, until],
        query_timeout: ANSWER_MS_MAX,
      })
      return rows[0]?.sequence ?? 0
    }),
  )
  return Math.min(newest, found ?? newest)
}

interface Stretch {
  readonly lowest: number
  readonly highest: number
  readonly withinMs: number
  /** Never in the order of records. */
  readonly byIndex?: boolean
}

async function findPage(
  database: Database,
  key: number,
  query: SearchQuery,
  { lowest, highest, withinMs, byIndex = false }: Stretch,
): Promise<Omit<FoundRecords, 'waiting'>> {
  const { conditions, values } = conditionsOf(key, query)
  const rows = await database.rawTransaction(async (client) => {
    await client.query({ text: `SET LOCAL statement_timeout = ${withinMs}` })
    if (byIndex && conditions !== EVERYTHING)
      await client.query({ text: 'SET LOCAL enable_indexscan = off; SET LOCAL enable_seqscan = off' })
    return selectFound(client, conditions, [key, lowest, highest, query.limit + 1, ...values])
  })
  const shown = rows.slice(0, query.limit).map((columns) => ({ ...recordRow(columns), excerpt: excerptIn(columns) }) satisfies ListedRecord)
  return { rows: shown, next: rows.length > query.limit ? (shown.at(-1)?.sequence ?? null) : null }
}

async function selectFound(client: PgClient, conditions: string, values: readonly SqlValue[]) {
  const { rows } = await client.query<RecordTuple & EntryColumns>({
    text: `SELECT ${RECORD_COLUMNS}, e.shown, e.entry_score FROM
             (SELECT sequence, shown, score AS entry_score FROM search_entry
              WHERE scenario = $1 AND sequence BETWEEN $2 AND $3 AND ${conditions} ORDER BY sequence DESC LIMIT $4) e
           JOIN record r ON r.scenario = $1 AND r.sequence = e.sequence ORDER BY r.sequence DESC`,
    values,
    query_timeout: ANSWER_MS_MAX,
  })
  return rows
}

const EVERYTHING = 'true'

/** The scenario is given by its key; as a fact it is only worth comparing beside something that few records have. */
function conditionsOf(key: number, query: SearchQuery): { readonly conditions: string; readonly values: readonly SqlValue[] } {
  const values: SqlValue[] = []
  const placed = (value: SqlValue): string => `$${4 + values.push(value)}`
  const question = questionOf(query)
  const facts = factsAsked(key, query)
  const conditions = [
    ...(question === null ? [] : [`words @@ ${placed(question)}::tsquery`]),
    ...(question === null && facts.length === 1 ? [] : [`facts @> ${placed(facts)}::text[]`]),
    ...bounds('score', query.scoreMin, query.scoreMax),
    ...bounds('created_at', query.since, query.until),
  ]
  return { conditions: conditions.length === 0 ? EVERYTHING : conditions.join(' AND '), values }

  function bounds(column: 'score' | 'created_at', least: number | undefined, most: number | undefined): readonly string[] {
    return [
      ...(least === undefined ? [] : [`${column} >= ${placed(least)}`]),
      ...(most === undefined ? [] : [`${column} <= ${placed(most)}`]),
    ]
  }
}

const excerptIn = ({ shown, entry_score: score }: EntryColumns): RecordExcerpt => ({ ...shown, ...(score !== null && { score }) })

export async function excerpts(
  database: Database,
  seal: StoreSeal,
  name: string,
  sequences: readonly number[],
): Promise<ReadonlyMap<number, RecordExcerpt>> {
  const rows = await database.rows<{
    sequence: number
    age: number
    bytes: number
    shown: RecordExcerpt | null
    entry_score: number | null
  }>({
    text: `SELECT r.sequence, r.age, octet_length(b.payload) AS bytes, e.shown, e.score AS entry_score
           FROM record r JOIN body b ON b.age = r.age LEFT JOIN search_entry e ON e.age = r.age
           WHERE r.scenario = (SELECT key FROM scenario WHERE name = $1) AND r.sequence = ANY($2::bigint[])`,
    values: [bytesOf(name), sequences],
  })
  let room = BODIES_BYTES_MAX
  const unread = rows.filter(({ shown, bytes }) => shown === null && (room -= bytes) >= 0)
  const read = await readExcerpts(
    database,
    seal,
    unread.map(({ age }) => age),
  )
  const found = rows.flatMap(({ sequence, shown, entry_score }) => {
    const excerpt = shown === null ? read.get(sequence) : excerptIn({ shown, entry_score })
    return excerpt === undefined ? [] : [[sequence, excerpt] as const]
  })
  return new Map(found)
}

async function readExcerpts(database: Database, seal: StoreSeal, ages: readonly number[]): Promise<ReadonlyMap<number, RecordExcerpt>> {
  if (ages.length === 0) return new Map()
  const rows = await database.rows<RecordTuple & KeptBody & { readonly scenario: number }>({
    text: `SELECT ${RECORD_COLUMNS}, b.scenario, b.payload, b.size FROM body b JOIN record r ON r.scenario = b.scenario AND r.sequence = b.sequence
           WHERE b.age = ANY($1::bigint[])`,
    values: [ages],
  })
  return new Map(
    rows.map((columns) => {
      const { sequence, agent_record_id: id, request_type, score } = recordRow(columns)
      const payload = openWhole(seal, columns.scenario, id, columns) ?? new Uint8Array()
      return [sequence, { ...shownExcerpt(excerptOf(request_type, payload)), ...(score !== null && { score }) }]
    }),
  )
}
