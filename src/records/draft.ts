/** A record as its body says it: everything but what only the service and the scenario can add. Plain data, so that a thread may make it. */
import { invalid, type Json, type JsonObject, type NewRecord } from '../contract/index.ts'

export interface Draft {
  /** Null where the service gives one. */
  readonly agent_record_id: string | null
  readonly request_type: 'inference' | 'report'
  readonly references: readonly string[]
  /** The session whose exchanges a report is about, in the place of receipts. */
  readonly about?: AboutSession
  readonly score: number | null
  readonly payload: Uint8Array
  /** Where its fields stand in the body, for messages. */
  readonly at: string
}

export interface AboutSession {
  readonly session: string
  readonly which?: 'all' | 'latest' | undefined
}

/** What admission needs of the service and of the scenario's recipe. */
export interface Admission {
  readonly newId: () => string
  readonly clock: () => number
  readonly checkReport?: (report: JsonObject) => string | null
}

/** Throws what the recipe has against a report. A session and receipts at once would be two answers to one question. */
export function admit(draft: Draft, { newId, clock, checkReport }: Admission): NewRecord {
  const { at, about, ...record } = draft
  if (about !== undefined && draft.references.length > 0)
    throw invalid('repeated_reference', `${at}references_to: does not go with references; send one of the two`)
  if (draft.request_type === 'report' && checkReport !== undefined) {
    const problem = checkReport(readReport(draft.payload))
    if (problem !== null) throw invalid('report_schema', `${at}${problem}`)
  }
  return { ...record, agent_record_id: draft.agent_record_id ?? newId(), created_at: clock(), artifact_ref: null }
}

function readReport(payload: Uint8Array): JsonObject {
  const report: JsonObject = JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString(), finite)
  return report
}

/** A number that no double holds is none a schema could name. */
const finite = (_key: string, value: Json): Json => (typeof value === 'number' && !Number.isFinite(value) ? String(value) : value)
