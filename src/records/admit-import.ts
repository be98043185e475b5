/** Existing records on their way in: an envelope of exactly three fields, one or up to a thousand at once. */
import { z } from 'zod'
import { IMPORT_BATCH_RECORDS_MAX, type JsonObject, type NewRecord } from '../contract/index.ts'
import { admitReport, type Admission } from './admit-report.ts'
import { encode, jsonObject, recordId, scoreOf } from './fields.ts'
import { checkShape } from './shape.ts'

export const importEnvelope = z.strictObject(
  {
    agent_record_id: recordId,
    request_type: z.enum(['inference', 'report'], { error: "must be 'inference' or 'report'" }),
    payload: jsonObject,
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? extraFields(issue.keys) : 'must be an import envelope') },
)

const BATCH_RULE = `must be a list of 1 to ${IMPORT_BATCH_RECORDS_MAX} envelopes`
/** Of envelopes in whatever shape: here they are judged one after the other, so that each refusal names its place. */
export const importBatchOf = <T extends z.ZodType>(record: T) =>
  z.strictObject(
    { records: z.array(record, { error: BATCH_RULE }).min(1, { error: BATCH_RULE }).max(IMPORT_BATCH_RECORDS_MAX, { error: BATCH_RULE }) },
    { error: 'must hold the field records and nothing else' },
  )
const batch = importBatchOf(jsonObject)

/** Tags of the request's headers, put into an inference's payload the way live traffic carries them. */
export type Tagging = (payload: JsonObject) => JsonObject

export function admitImport(body: JsonObject, admission: Admission, tag: Tagging, at = ''): NewRecord {
  const { agent_record_id, request_type, payload } = checkShape(importEnvelope, body, at)
  if (request_type === 'report') {
    return { ...admitReport(payload, admission, at === '' ? 'payload' : `${at}.payload`), agent_record_id }
  }
  const tagged = tag(payload)
  return {
    agent_record_id,
    request_type,
    created_at: admission.clock(),
    references: [],
    artifact_ref: null,
    score: scoreOf(tagged),
    payload: encode(tagged),
  }
}

export function admitBatch(body: JsonObject, admission: Admission, tag: Tagging): readonly NewRecord[] {
  const { records } = checkShape(batch, body)
  return records.map((record, index) => admitImport(record, admission, tag, `records[${index}]`))
}

function extraFields(keys: readonly string[]): string {
  return `must hold agent_record_id, request_type and payload alone; ${keys
    .slice(0, 3)
    .map((key) => JSON.stringify(key))
    .join(', ')} is not accepted`
}
