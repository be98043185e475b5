/**
 * Removes the records that have a tag, with the reports about them, while services use the database. The newest go first: a report goes
 * before what it quotes, so that a run that was killed is begun anew and finds the rest.
 */
import { randomBytes } from 'node:crypto'
import {
  isObject,
  type ForgetOrder,
  type Forgotten,
  type JsonObject,
  type RecordRow,
  type SearchedPlace,
} from '../../../src/contract/index.ts'
import { mentionsOf } from '../../../src/kit/index.ts'
import type { StoreSeal } from '../common/seal.ts'
import { hasTag } from '../common/tagged.ts'
import type { Database } from './connections.ts'
import type { PgClient } from './library.ts'
import { bytesOf, RECORD_COLUMNS, recordRow, type RecordTuple } from './rows.ts'
import { openWhole, type KeptBody } from './sealed.ts'
import { TIDY_LOCK } from './tidy.ts'

/** Bodies may be large. */
const ROWS_PER_PAGE = 50
const ROWS_PER_TURN = 500
const DIGEST_BYTES = 32
/** Records that come in meanwhile are looked for again, so often at most. */
const ROUNDS_MAX = 5

const UNSEARCHED = [
  'room that PostgreSQL freed and has not used again, and its write-ahead log: it keeps both for as long as its settings say',
  'backups and standbys of PostgreSQL',
]

/** Removes nothing in a trial: the counts say what would go. */
export async function forgetTag(connections: Database, seal: StoreSeal, order: ForgetOrder): Promise<Forgotten> {
  const first = await search(connections, seal, order)
  if (order.isTrial) return { ...counts(first.doomed), places: [] }
  const gone: Doomed[] = []
  let { doomed } = first
  for (let round = 0; doomed.length > 0 && round < ROUNDS_MAX; round += 1) {
    for (const turn of turnsOf(doomed)) await connections.transaction((client) => remove(client, turn))
    gone.push(...doomed)
    doomed = (await search(connections, seal, order)).doomed.filter(({ hasBody }) => hasBody)
  }
  return { ...counts(gone), places: await placesOf(connections, seal, order), unsearched: UNSEARCHED }
}

interface Doomed {
  readonly key: number
  /** Empty for one that is archived. */
  readonly scenario: string
  readonly row: RecordRow
  readonly hasBody: boolean
}

function counts(doomed: readonly Doomed[]): Omit<Forgotten, 'places'> {
  const reports = doomed.filter(({ row }) => row.request_type === 'report').length
  const live = doomed.filter(({ scenario }) => scenario !== '')
  return {
    records: doomed.length - reports,
    reports,
    ids: live.map(({ scenario, row: { agent_record_id, sequence } }) => ({ scenario, agent_record_id, sequence })),
    rewritten: 0,
    scenarios: [...new Set(doomed.map(({ scenario }) => scenario))].toSorted(),
  }
}

interface ReadColumns extends RecordTuple, KeptBody {
  readonly age: number
}

interface Found {
  readonly doomed: readonly Doomed[]
  /** How many bodies could not be read, and so may have the tag. */
  readonly damaged: number
}

/** A report comes after the exchanges that it quotes, so one reading in order finds both. */
async function search(connections: Database, seal: StoreSeal, order: ForgetOrder): Promise<Found> {
  const scenarios = await connections.rows<{ key: number; name: Buffer | null }>({ text: 'SELECT key, name FROM scenario ORDER BY key' })
  const doomed: Doomed[] = []
  let damaged = 0
  for (const { key, name } of scenarios) {
    const ids = new Set<string>()
    for await (const columns of rowsOf(connections, key)) {
      const row = recordRow(columns)
      const isQuoting = row.references.some((id) => ids.has(id))
      const payload = isQuoting ? null : openWhole(seal, key, row.agent_record_id, columns)
      if (isQuoting || hasTag(row, payload, order)) {
        ids.add(row.agent_record_id)
        doomed.push({ key, scenario: name?.toString() ?? '', row, hasBody: columns.payload !== null })
      } else if (payload === null && columns.payload !== null) damaged += 1
    }
  }
  return { doomed, damaged }
}

async function* rowsOf(connections: Database, key: number): AsyncGenerator<ReadColumns> {
  for (let after = 0; ;) {
    const rows = await connections.rows<ReadColumns>({
      name: 'forget',
      text: `SELECT ${RECORD_COLUMNS}, r.age, b.payload, b.size FROM record r LEFT JOIN body b ON b.age = r.age
             WHERE r.scenario = $1 AND r.sequence > $2 ORDER BY r.sequence LIMIT ${ROWS_PER_PAGE}`,
      values: [key, after],
    })
    yield* rows
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.sequence
  }
}

/** Each of one scenario, the newest first. */
function turnsOf(doomed: readonly Doomed[]): readonly (readonly Doomed[])[] {
  const byScenario = Map.groupBy(doomed.toReversed(), ({ key }) => key)
  return [...byScenario.values()].flatMap((rows) =>
    Array.from({ length: Math.ceil(rows.length / ROWS_PER_TURN) }, (_, turn) =>
      rows.slice(turn * ROWS_PER_TURN, (turn + 1) * ROWS_PER_TURN),
    ),
  )
}

/** The receipt stays, so that the order and the steps that used it stay whole. What was said equals nothing that is sent again. */
async function remove(client: PgClient, doomed: readonly Doomed[]): Promise<void> {
  const [first] = doomed
  if (first === undefined) return
  const { key } = first
  // What evicts takes the same one, so that no body is removed twice.
  await client.query({ text: 'SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))', values: [TIDY_LOCK] })
  await client.query({ text: 'SELECT 1 FROM scenario WHERE key = $1 FOR UPDATE', values: [key] })
  const sequences = doomed.map(({ row }) => row.sequence)
  const { rows: bodies } = await client.query<{ bytes: number }>({
    text: `WITH gone AS (DELETE FROM body WHERE age IN (SELECT age FROM record WHERE scenario = $1 AND sequence = ANY($2::bigint[]))
             RETURNING octet_length(payload) AS bytes) SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM gone`,
    values: [key, sequences],
  })
  await client.query({ text: 'UPDATE scenario SET body_bytes = body_bytes - $2 WHERE key = $1', values: [key, bodies[0]?.bytes ?? 0] })
  await client.query({
    text: `INSERT INTO evicted (scenario, sequence, digest) SELECT $1, sequence, decode(digest, 'hex')
           FROM unnest($2::bigint[], $3::text[]) AS gone (sequence, digest)
           ON CONFLICT (scenario, sequence) DO UPDATE SET digest = excluded.digest`,
    values: [key, sequences, sequences.map(() => randomBytes(DIGEST_BYTES).toString('hex'))],
  })
  await client.query({
    text: 'UPDATE record SET refs = NULL, score = NULL, summary = NULL, session = NULL WHERE scenario = $1 AND sequence = ANY($2::bigint[])',
    values: [key, sequences],
  })
  for (const { row } of doomed) if (row.request_type === 'train') await unsay(client, key, row.agent_record_id)
}

/** The row of a step that was asked for has the words of who asked. */
async function unsay(client: PgClient, key: number, id: string): Promise<void> {
  const { rows } = await client.query<{ step: number; metrics: JsonObject }>({
    text: 'SELECT c.step, c.metrics FROM consumed u JOIN commit_row c ON c.scenario = u.scenario AND c.step = u.step WHERE u.scenario = $1 AND u.id = $2',
    values: [key, bytesOf(id)],
  })
  for (const { step, metrics } of rows) {
    const request = metrics['training_request']
    if (!isObject(request) || request['id'] !== id) continue
    const unsaid = { ...metrics, training_request: { ...request, text: '', session: '' } }
    await client.query({
      text: 'UPDATE commit_row SET metrics = $3::json WHERE scenario = $1 AND step = $2',
      values: [key, step, JSON.stringify(unsaid)],
    })
  }
}

// ── the proof ────────────────────────────────────────────────────────────────────────────────

const TEXTS = [
  ['rows of records', `SELECT convert_from(id, 'UTF8') || ' ' || coalesce(summary::text, '') AS said FROM record`],
  ['rows of steps', `SELECT metrics::text || ' ' || state::text || ' ' || coalesce(totals::text, '') AS said FROM commit_row`],
  ['audit', 'SELECT entry::text AS said FROM audit'],
  ['the index of the search', 'SELECT shown::text AS said FROM search_entry'],
] as const

/** Reads everything once more. */
async function placesOf(connections: Database, seal: StoreSeal, order: ForgetOrder): Promise<readonly SearchedPlace[]> {
  const place = 'PostgreSQL'
  const mentions = mentionsOf(order.tag[1])
  const { doomed, damaged } = await search(connections, seal, order)
  const mentioned: SearchedPlace[] = []
  for (const [what, text] of TEXTS) {
    const rows = await connections.rows<{ said: string }>({ text })
    const found = rows.filter(({ said }) => mentions(said)).length
    mentioned.push({ place, searched: `the value of the tag in ${what}`, found })
  }
  return [
    { place, searched: 'bodies with the tag, and reports about them', found: doomed.filter(({ hasBody }) => hasBody).length },
    { place, searched: 'bodies that are damaged, so that their tags cannot be read', found: damaged },
    ...mentioned,
    ...(await documentPlaces(connections, mentions)),
  ]
}

/** Parts of a document are one text. */
async function documentPlaces(connections: Database, mentions: (text: string) => boolean): Promise<readonly SearchedPlace[]> {
  const searched = 'the value of the tag in documents'
  const names = await connections.rows<{ owner: string; path: string }>({ text: 'SELECT DISTINCT owner, path FROM document ORDER BY 1, 2' })
  const left: SearchedPlace[] = []
  for (const { owner, path } of names) {
    const parts = await connections.rows<{ value: Buffer }>({
      text: 'SELECT value FROM document WHERE owner = $1 AND path = $2 ORDER BY start',
      values: [owner, path],
    })
    const text = Buffer.concat(parts.map(({ value }) => value)).toString()
    if (mentions(text)) left.push({ place: `document ${owner}/${path}`, searched, found: 1 })
  }
  return left.length > 0 ? left : [{ place: `${names.length} documents`, searched, found: 0 }]
}
