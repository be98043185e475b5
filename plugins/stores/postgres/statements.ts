/** The statement that appends: locks the counters in the order of their keys, numbers the records, counts on and inserts. */
import { hash } from 'node:crypto'
import type { NewRecord } from '../../../src/contract/index.ts'
import type { SqlQuery } from './library.ts'
import type { SealedBody } from './sealed.ts'

const DIGEST_BYTES = 32

/** Texts and bodies are parts of one value: as a list of values each body would be sent in hex, twice as long. */
const part = (at: string, length: string): string => `substring($1::bytea FROM ${at} FOR ${length})`
const ID_AT = 'g.at'
const REF_AT = `${ID_AT} + g.id_length`
const SESSION_AT = `${REF_AT} + coalesce(g.ref_length, 0)`
const CHECKSUM_AT = `${SESSION_AT} + coalesce(g.session_length, 0)`
const BODY_AT = `${CHECKSUM_AT} + ${DIGEST_BYTES}`

/**
 * Counters are locked in one order, so that two groups never wait for each other. Every writer of a scenario holds its counter until its
 * commit, so sequences become visible in their order and a reader with a cursor skips none. An id that is there already fails the statement.
 */
const APPEND = `
WITH given AS MATERIALIZED (
  SELECT * FROM unnest($2::bigint[], $3::text[], $4::float8[], $5::text[], $6::float8[], $7::text[], $8::int[], $9::int[], $10::int[], $11::int[], $12::int[], $14::int[])
    WITH ORDINALITY AS g (key, type, created_at, refs, score, summary, at, id_length, ref_length, session_length, body_length, size, place)
), counter AS MATERIALIZED (
  SELECT key, head, step FROM scenario WHERE key = ANY($13::bigint[]) AND name IS NOT NULL ORDER BY key FOR UPDATE
), numbered AS MATERIALIZED (
  SELECT *, nextval('body_age') AS age FROM (
    SELECT given.*, counter.head + row_number() OVER (PARTITION BY key ORDER BY place) AS sequence
    FROM given JOIN counter USING (key) ORDER BY place) placed
), counted AS (
  UPDATE scenario s SET head = s.head + added.records, body_bytes = s.body_bytes + added.bytes,
    newest_inference = greatest(s.newest_inference, added.inference), newest_report = greatest(s.newest_report, added.report),
    newest_train = greatest(s.newest_train, added.train), changed = pg_current_xact_id()
  FROM (SELECT key, count(*) AS records, sum(body_length) AS bytes, max(sequence) FILTER (WHERE type = 'inference') AS inference,
          max(sequence) FILTER (WHERE type = 'report') AS report, max(sequence) FILTER (WHERE type = 'train') AS train
        FROM numbered GROUP BY key) added
  WHERE s.key = added.key
), records AS (
  INSERT INTO record (scenario, sequence, id, type, created_at, refs, artifact_ref, score, summary, session, age)
  SELECT g.key, g.sequence, ${part(ID_AT, 'g.id_length')}, g.type, g.created_at, g.refs::json, ${part(REF_AT, 'g.ref_length')}, g.score,
    g.summary::json, ${part(SESSION_AT, 'g.session_length')}, g.age
  FROM numbered g ORDER BY g.key, g.sequence
), bodies AS (
  INSERT INTO body (age, scenario, sequence, checksum, payload, size)
  SELECT g.age, g.key, g.sequence, ${part(CHECKSUM_AT, String(DIGEST_BYTES))}, ${part(BODY_AT, 'g.body_length')}, g.size FROM numbered g ORDER BY g.age
)
SELECT key, head, step FROM counter`

export interface Counter {
  readonly key: number
  /** Before the append. */
  readonly head: number
  readonly step: number
}

export interface KeyedRecord {
  readonly key: number
  readonly record: NewRecord
  /** What is written in place of its body; null: as it came. */
  readonly sealed: SealedBody | null
}

/** Answers a Counter for each scenario that is there; records of others are not written. */
export function appendStatement(records: readonly KeyedRecord[]): SqlQuery {
  const lengths = records.map(lengthsOf)
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, { total }) => sum + total, 0))
  const starts: number[] = []
  let at = 0
  for (const [index, keyed] of records.entries()) {
    starts.push(at + 1)
    at = write(bytes, at, keyed, lengths[index]?.body ?? 0)
  }
  const column = <T>(of: (record: NewRecord) => T): T[] => records.map(({ record }) => of(record))
  return {
    name: 'append',
    text: APPEND,
    values: [
      bytes,
      records.map(({ key }) => key),
      column((record) => record.request_type),
      column((record) => record.created_at),
      column(({ references }) => (references.length === 0 ? null : JSON.stringify(references))),
      column((record) => record.score),
      column(({ summary }) => (summary === undefined ? null : JSON.stringify(summary))),
      starts,
      lengths.map(({ id }) => id),
      lengths.map(({ ref }) => ref),
      lengths.map(({ session }) => session),
      lengths.map(({ body }) => body),
      [...new Set(records.map(({ key }) => key))],
      records.map(({ sealed }) => sealed?.size ?? null),
    ],
  }
}

function lengthsOf(keyed: KeyedRecord) {
  const { agent_record_id, artifact_ref, summary } = keyed.record
  const id = Buffer.byteLength(agent_record_id)
  const ref = artifact_ref === null ? null : Buffer.byteLength(artifact_ref)
  const session = summary?.session === undefined ? null : Buffer.byteLength(summary.session)
  const body = bodyBytes(keyed)
  return { id, ref, session, body, total: id + (ref ?? 0) + (session ?? 0) + DIGEST_BYTES + body }
}

const piecesOf = ({ record, sealed }: KeyedRecord): readonly Uint8Array[] =>
  sealed === null ? (record.pieces ?? [record.payload]) : [sealed.payload]

export const bodyBytes = (keyed: KeyedRecord): number => piecesOf(keyed).reduce((sum, piece) => sum + piece.byteLength, 0)

/** Answers where the next one begins. */
function write(bytes: Buffer, start: number, keyed: KeyedRecord, bodyLength: number): number {
  const { record } = keyed
  let at = start + bytes.write(record.agent_record_id, start)
  at += bytes.write(record.artifact_ref ?? '', at)
  at += bytes.write(record.summary?.session ?? '', at)
  const bodyAt = at + DIGEST_BYTES
  let end = bodyAt
  for (const piece of piecesOf(keyed)) {
    bytes.set(piece, end)
    end += piece.byteLength
  }
  hash('sha256', bytes.subarray(bodyAt, bodyAt + bodyLength), 'buffer').copy(bytes, at)
  return end
}
