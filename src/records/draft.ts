/** A record as its body describes it, before the service and the scenario add their part. Plain data, so that a thread can make it. */
import { invalid, REPORT_READ_BYTES_MAX, type Json, type JsonObject, type NewRecord } from '../contract/index.ts'
import type { Span } from '../kit/index.ts'

export interface RecordDraft {
  /** Null when the service assigns one. */
  readonly agent_record_id: string | null
  readonly request_type: 'inference' | 'report'
  readonly references: readonly string[]
  /** The session whose exchanges a report is about, instead of receipts. */
  readonly about?: AboutSession
  readonly score: number | null
  readonly payload: Uint8Array
  /** The prefix of its field names in messages. */
  readonly at: string
}

export interface AboutSession {
  readonly session: string
  readonly which?: 'all' | 'latest' | undefined
}

export interface AdmissionRules {
  readonly newId: () => string
  readonly clock: () => number
  readonly checkReport?: (report: JsonObject) => string | null
}

/** Throws what the recipe's schema refuses, and a report with both a session and receipts. */
export function admit(draft: RecordDraft, { newId, clock, checkReport }: AdmissionRules): NewRecord {
  const { at, about, ...record } = draft
  if (about !== undefined && draft.references.length > 0)
    throw invalid('repeated_reference', `${at}references_to: does not go with references; send one of the two`)
  if (draft.request_type === 'report' && checkReport !== undefined) {
    const isLong = draft.payload.length > REPORT_READ_BYTES_MAX
    const problem = isLong ? TOO_LONG : checkReport(readReport(draft.payload))
    if (problem !== null) throw invalid('report_schema', `${at}${problem}`)
  }
  return { ...record, agent_record_id: draft.agent_record_id ?? newId(), created_at: clock(), artifact_ref: null }
}

const MIB = 1024 * 1024
const TOO_LONG = `the report is larger than the ${REPORT_READ_BYTES_MAX / MIB} MiB that the recipe of this scenario reads; send less of it`

function readReport(payload: Uint8Array): JsonObject {
  const report: JsonObject = JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString(), finite)
  return report
}

/** No schema can name a number beyond the range of a double. */
const finite = (_key: string, value: Json): Json => (typeof value === 'number' && !Number.isFinite(value) ? String(value) : value)

/** The score that the list routes show: the payload's, when it is a number. */
export function scoreOf(score: Json | undefined): number | null {
  return typeof score === 'number' && Number.isFinite(score) ? score : null
}

export function encode(payload: JsonObject): Uint8Array {
  return Buffer.from(JSON.stringify(payload))
}

export function parseAt(bytes: Buffer, { start, end }: Span): Json {
  const value: Json = JSON.parse(bytes.toString('utf8', start, end))
  return value
}
