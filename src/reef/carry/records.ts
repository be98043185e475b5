/** Imports records from the original's database: ids, times and references unchanged, streamed answers assembled. */
import { isUtf8 } from 'node:buffer'
import {
  isObject,
  isRefusal,
  JSON_DEPTH_MAX,
  LINE_JSON_DEPTH_MAX,
  RECORD_ID_CHARACTERS_MAX,
  type JsonObject,
  type NewRecord,
  type RequestType,
} from '../../contract/index.ts'
import { replay } from '../../inference/index.ts'
import { countCodePoints, isDeeperThan } from '../../kit/index.ts'
import type { SourceDatabase } from '../source/database.ts'
import { parsed } from '../source/folder.ts'
import { readRelease, textsIn } from '../source/log.ts'
import type { Carrier } from './history.ts'

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b])
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d])

const RECORDS_PER_APPEND = 256
const BYTES_PER_APPEND = 8 * 1024 * 1024
const TYPES: ReadonlySet<string> = new Set(['inference', 'report', 'train'])

interface Carrying extends Pick<Carrier, 'target' | 'remarks' | 'keepRaw' | 'done'> {
  readonly scenario: string
  readonly name: string
  readonly releases: ReadonlyMap<string, string>
}

/** Imports all readable records in stored order; records stored already are skipped. Answers the number of records in the source by type. */
export async function carryRecords(database: SourceDatabase, carrying: Carrying): Promise<ReadonlyMap<string, number>> {
  const types = new Map<string, number>()
  let batch: NewRecord[] = []
  let bytes = 0
  let read = 0
  const flush = async (): Promise<void> => {
    await append(batch, carrying)
    carrying.done(read)
    batch = []
    bytes = 0
    read = 0
  }
  try {
    for (const row of database.records()) {
      read += row.payloadBytes
      types.set(row.type ?? '', (types.get(row.type ?? '') ?? 0) + 1)
      const record = convert(row, carrying)
      if (record === null) continue
      batch.push(record)
      bytes += record.payload.byteLength
      if (batch.length >= RECORDS_PER_APPEND || bytes >= BYTES_PER_APPEND) await flush()
    }
  } catch (error) {
    if (isRefusal(error)) throw error
    problem(carrying, 'damaged records', `its records cannot be read further: ${error instanceof Error ? error.message : String(error)}`)
  }
  await flush()
  return types
}

/** A record stored here with other content is skipped alone. */
async function append(batch: readonly NewRecord[], carrying: Carrying): Promise<void> {
  if (batch.length === 0) return
  try {
    await carrying.target.append(carrying.name, batch)
  } catch (error) {
    if (!isRefusal(error) || error.kind !== 'conflict') throw error
    const [only, ...others] = batch
    if (only === undefined) return
    if (others.length === 0)
      problem(carrying, 'other content', `record ${JSON.stringify(only.agent_record_id)} is stored here with other content`)
    else for (const record of batch) await append([record], carrying)
  }
}

type SourceRecord = ReturnType<SourceDatabase['records']> extends Generator<infer Row> ? Row : never

function convert(row: SourceRecord, carrying: Carrying): NewRecord | null {
  const { id, type, createdAt, payload } = row
  const refuse = (about: string, why: string): null => {
    problem(carrying, about, `record ${JSON.stringify(id ?? `at sequence ${row.sequence}`)} ${why}`)
    return null
  }
  if (id === null || id === '' || countCodePoints(id) > RECORD_ID_CHARACTERS_MAX)
    return refuse('bad id', 'has an id that is not taken here')
  if (row.scenario !== carrying.scenario) return refuse('other scenario', 'belongs to another scenario')
  if (!isType(type)) return refuse('unknown type', `is of an unknown type`)
  if (payload === null) return refuse('too large', `is ${row.payloadBytes} bytes: larger than a record may be`)
  const body = isUtf8(payload) ? parsed(Buffer.from(payload).toString(), LINE_JSON_DEPTH_MAX) : undefined
  if (!isObject(body)) return refuse('no JSON', 'holds no JSON object, or one that is nested too deep')
  if (createdAt === null || !Number.isFinite(createdAt)) return refuse('no time', 'has no time')
  const release = readRelease(parsed(row.artifact ?? 'null'))?.releaseId ?? null
  return {
    agent_record_id: id,
    request_type: type,
    created_at: createdAt,
    references: textsIn(parsed(row.references ?? '[]')),
    artifact_ref: release === null ? null : (carrying.releases.get(release) ?? release),
    score: typeof body['score'] === 'number' && Number.isFinite(body['score']) ? body['score'] : null,
    payload: type === 'inference' ? together(payload, body, id, carrying) : payload,
  }
}

const isType = (type: string | null): type is RequestType => type !== null && TYPES.has(type)

/** The original stores the text of a stream; here the assembled answer is stored. The rest of the payload stays byte for byte. */
function together(payload: Uint8Array, body: JsonObject, id: string, carrying: Carrying): Uint8Array {
  const { response } = body
  if (!isObject(response) || response['stream'] !== true) return payload
  const raw = streamText(response)
  if (raw === null) return payload
  const answer = answerIn(response, raw, carrying.keepRaw)
  if (answer === null) {
    const note = `record ${JSON.stringify(id)}: its stream has no known format, and is kept as it is`
    carrying.remarks.add('note', carrying.scenario, 'streams as they are', note)
    return payload
  }
  return withMember(payload, 'response', answer)
}

/** Null for an answer that cannot be assembled, or is nested too deep for some Node to print. */
function answerIn(response: JsonObject, raw: Buffer, keepRaw: boolean): string | null {
  const replayed = replay(raw)
  if (replayed === null) return null
  const cause = replayed.failure ?? textAt(response, 'error') ?? (replayed.isWhole ? null : 'the stream ended before its terminal event')
  if (isDeeperThan(replayed.answer, JSON_DEPTH_MAX)) return null
  const end = cause === null ? { complete: true } : { complete: false, cause }
  const kept = keepRaw ? { raw: raw.toString() } : {}
  return JSON.stringify({ ...replayed.answer, stream: true, ...end, ...kept })
}

function streamText(response: JsonObject): Buffer | null {
  const text = textAt(response, 'body')
  if (text !== null) return Buffer.from(text)
  const bytes = textAt(response, 'body_base64')
  return bytes === null ? null : Buffer.from(bytes, 'base64')
}

function textAt(value: JsonObject, key: string): string | null {
  const member = value[key]
  return typeof member === 'string' ? member : null
}

function problem({ remarks, scenario }: Carrying, about: string, text: string): void {
  remarks.add('problem', scenario, about, text)
}

/**
 * Replaces one member of a JSON object in its text and keeps every other byte. `json` is a whole object; a missing member stays missing.
 * Of a duplicate member the last counts, as for every reader.
 */
export function withMember(json: Uint8Array, key: string, value: string): Uint8Array {
  const span = memberSpan(json, key)
  if (span === null) return json
  return Buffer.concat([json.subarray(0, span.from), Buffer.from(value), json.subarray(span.to)])
}

function memberSpan(json: Uint8Array, key: string): { readonly from: number; readonly to: number } | null {
  let found: { readonly from: number; readonly to: number } | null = null
  let depth = 0
  let name: string | null = null
  let from = 0
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] ?? 0
    if (byte === QUOTE) {
      const end = stringEnd(json, at)
      if (depth === 1 && name === null) name = nameIn(json.subarray(at, end))
      at = end - 1
    } else if (OPENING.has(byte)) depth += 1
    else if (depth === 1 && byte === COLON) from = at + 1
    else if (depth === 1 && (byte === COMMA || CLOSING.has(byte))) {
      if (name === key) found = { from, to: at }
      name = null
      if (CLOSING.has(byte)) depth -= 1
    } else if (CLOSING.has(byte)) depth -= 1
  }
  return found
}

function stringEnd(json: Uint8Array, from: number): number {
  let at = from + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at + 1
}

const nameIn = (text: Uint8Array): string => String(JSON.parse(Buffer.from(text).toString()))
