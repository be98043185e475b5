/** The payload of a record on its way in, and the record with another one. */
import type { NewRecord } from '../contract/index.ts'

/** Reading `payload` would join the pieces once more. */
export const payloadOf = (record: NewRecord): Buffer =>
  record.pieces === undefined ? Buffer.from(record.payload) : Buffer.concat(record.pieces)

export function withPayload(record: NewRecord, payload: Uint8Array): NewRecord {
  const { agent_record_id, request_type, created_at, references, artifact_ref, score, summary } = record
  const row = { agent_record_id, request_type, created_at, references, artifact_ref, score }
  return { ...row, ...(summary !== undefined && { summary }), payload }
}
