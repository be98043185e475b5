/** The statement that appends: locks the counters in the order of their keys, numbers the records, counts on and inserts. */
import { hash } from 'node:crypto'
import type { NewRecord, RequestType } from '../../../src/contract/index.ts'
import { float8List, int4List, int8List } from './binary.ts'
import type { PgClient } from './library.ts'
import type { SealedBody } from './sealed.ts'

const DIGEST_BYTES = 32
/** The most that a character of a text takes. */
const CHARACTER_BYTES_MAX = 3
const TYPES: readonly RequestType[] = ['inference', 'report', 'train']
const [SPARE_BYTES_LEAST, SPARE_BYTES_MAX, SPARES_MAX] = [256 * 1024, 1024 * 1024, 2]
/** In place of a length, or of a size, where there is none. */
const NONE = -1

/** What the list $1 holds of each record. A text and the body have two numbers, where they begin in $7 and how long they are. */
const [SCENARIO, PLACE, TYPE, SIZE, ID, REF, SESSION, REFERENCES, SUMMARY, BODY] = [1, 2, 3, 4, 5, 7, 9, 11, 13, 15]
const NUMBERS_PER_RECORD = 16
/** What the list $3 holds of each scenario. */
const [RECORDS, BYTES, INFERENCE, REPORT, TRAIN] = [1, 2, 3, 4, 5]
const NUMBERS_PER_SCENARIO = 5

const number = (which: number): string => `($1::int4[])[g.base + ${which}]`
const total = (which: number): string => `($3::int8[])[added.base + ${which}]`
/** Texts and bodies are parts of one value: as a list each body would be copied once more for every step of the statement. */
const part = (which: number): string => `substring($7::bytea FROM ${number(which)} FOR nullif(${number(which + 1)}, ${NONE}))`
const json = (which: number): string => `convert_from(${part(which)}, 'UTF8')::json`
const newest = (which: number): string => `coalesce(added.head + nullif(${total(which)}, 0), 0)`

/**
 * Counters are locked in one order, so that two groups never wait for each other. Every writer of a scenario holds its counter until its
 * commit, so sequences become visible in their order and a reader with a cursor skips none. An id that is there already fails the statement.
 */
const APPEND = `
WITH counter AS MATERIALIZED (
  SELECT key, head, step FROM scenario WHERE key = ANY($2::int8[]) AND name IS NOT NULL ORDER BY key FOR UPDATE
), numbered AS MATERIALIZED (
  SELECT g.base, g.place, counter.key, counter.head + ${number(PLACE)} AS sequence, nextval('body_age') AS age
  FROM (SELECT place, place * ${NUMBERS_PER_RECORD} AS base FROM generate_series(0, $6::int4 - 1) AS place) g
  JOIN counter ON counter.key = ($2::int8[])[${number(SCENARIO)}]
), counted AS (
  UPDATE scenario s SET head = s.head + ${total(RECORDS)}, body_bytes = s.body_bytes + ${total(BYTES)},
    newest_inference = greatest(s.newest_inference, ${newest(INFERENCE)}), newest_report = greatest(s.newest_report, ${newest(REPORT)}),
    newest_train = greatest(s.newest_train, ${newest(TRAIN)}), changed = pg_current_xact_id()
  FROM (SELECT key, counter.head, (place - 1) * ${NUMBERS_PER_SCENARIO} AS base
        FROM unnest($2::int8[]) WITH ORDINALITY AS given (key, place) JOIN counter USING (key)) added
  WHERE s.key = added.key
), records AS (
  INSERT INTO record (scenario, sequence, id, type, created_at, refs, artifact_ref, score, summary, session, age)
  SELECT g.key, g.sequence, ${part(ID)}, ('{${TYPES.join()}}'::text[])[${number(TYPE)}], ($4::float8[])[g.place + 1], ${json(REFERENCES)}, ${part(REF)},
    nullif(($5::float8[])[g.place + 1], 'NaN'), ${json(SUMMARY)}, ${part(SESSION)}, g.age
  FROM numbered g
), bodies AS (
  INSERT INTO body (age, scenario, sequence, checksum, payload, size)
  SELECT g.age, g.key, g.sequence, substring($7::bytea FROM ${number(BODY)} - ${DIGEST_BYTES} FOR ${DIGEST_BYTES}), ${part(BODY)},
    nullif(${number(SIZE)}, ${NONE})
  FROM numbered g
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
export async function runAppend(client: PgClient, records: readonly KeyedRecord[]): Promise<readonly Counter[]> {
  const scenarios = new Map<number, ScenarioTotals>()
  const texts = records.map(({ record }) => textsOf(record))
  const parts = new Parts(records.reduce((sum, keyed, index) => sum + bytesMax(keyed, texts[index] ?? []), 0))
  const numbers: number[] = []
  for (const [index, keyed] of records.entries()) {
    const totals = scenarios.get(keyed.key) ?? { place: scenarios.size + 1, records: 0, bytes: 0, newest: [0, 0, 0] }
    scenarios.set(keyed.key, totals)
    const type = TYPES.indexOf(keyed.record.request_type)
    totals.records += 1
    totals.newest[type] = totals.records
    numbers.push(totals.place, totals.records, type + 1, keyed.sealed?.size ?? NONE)
    for (const text of texts[index] ?? []) numbers.push(parts.end + 1, parts.addText(text))
    const body = parts.addBody(piecesOf(keyed))
    numbers.push(parts.end - body + 1, body)
    totals.bytes += body
  }
  const { rows } = await client.query<Counter>({
    name: 'append',
    text: APPEND,
    values: [
      int4List(numbers),
      int8List([...scenarios.keys()]),
      int8List([...scenarios.values()].flatMap((totals) => [totals.records, totals.bytes, ...totals.newest])),
      float8List(records.map(({ record }) => record.created_at)),
      float8List(records.map(({ record }) => record.score ?? Number.NaN)),
      records.length,
      // The longest one last: what is sent grows by it once.
      parts.bytes,
    ],
  })
  parts.release()
  return rows
}

interface ScenarioTotals {
  /** Among the scenarios, from one. */
  readonly place: number
  records: number
  bytes: number
  /** Of each type the place among the records of the scenario, from one; zero for none. */
  readonly newest: [number, number, number]
}

/** In the order of the numbers above. */
function textsOf({ agent_record_id, artifact_ref, references, summary }: NewRecord): readonly (string | null)[] {
  return [
    agent_record_id,
    artifact_ref,
    summary?.session ?? null,
    references.length === 0 ? null : JSON.stringify(references),
    summary === undefined ? null : JSON.stringify(summary),
  ]
}

const piecesOf = ({ record, sealed }: KeyedRecord): readonly Uint8Array[] =>
  sealed === null ? (record.pieces ?? [record.payload]) : [sealed.payload]

export const bodyBytes = (keyed: KeyedRecord): number => piecesOf(keyed).reduce((sum, piece) => sum + piece.byteLength, 0)

const bytesMax = (keyed: KeyedRecord, texts: readonly (string | null)[]): number =>
  texts.reduce((sum, text) => sum + (text?.length ?? 0) * CHARACTER_BYTES_MAX, DIGEST_BYTES + bodyBytes(keyed))

/** Memory of statements that is not needed any longer: to take new memory for each costs more than to fill it. */
const spares: Buffer[] = []

/** Texts and bodies, one after the other. */
class Parts {
  readonly #bytes: Buffer
  #end = 0

  constructor(length: number) {
    const kept = spares.pop()
    this.#bytes = kept !== undefined && kept.byteLength >= length ? kept : Buffer.allocUnsafe(Math.max(length, SPARE_BYTES_LEAST))
  }

  /** Once the answer is there. After a failure it is unknown who still reads it. */
  release(): void {
    if (this.#bytes.byteLength <= SPARE_BYTES_MAX && spares.length < SPARES_MAX) spares.push(this.#bytes)
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#end)
  }

  get end(): number {
    return this.#end
  }

  /** Answers its bytes, or NONE. */
  addText(text: string | null): number {
    if (text === null) return NONE
    const length = this.#bytes.write(text, this.#end)
    this.#end += length
    return length
  }

  /** After its checksum. Answers its bytes. */
  addBody(pieces: readonly Uint8Array[]): number {
    const start = this.#end + DIGEST_BYTES
    let end = start
    for (const piece of pieces) {
      this.#bytes.set(piece, end)
      end += piece.byteLength
    }
    hash('sha256', this.#bytes.subarray(start, end), 'buffer').copy(this.#bytes, this.#end)
    this.#end = end
    return end - start
  }
}
