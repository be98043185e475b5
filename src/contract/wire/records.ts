/** Wire shapes of records: what is sent to be stored, and what was stored. */
import { z } from 'zod'
import { IMPORT_BATCH_RECORDS_MAX, REPORT_REFERENCES_MAX, TAG_VALUE_CHARACTERS_MAX, TRAIN_TEXT_CHARACTERS_MAX } from '../limits.ts'
import {
  boundedText,
  count,
  jsonObject,
  jsonValue,
  newRecordId,
  releaseId,
  requestType,
  scenario,
  seconds,
  storedId,
  text,
  type WireType,
} from './fields.ts'
import { requiresList } from './requires.ts'

// ── requests ─────────────────────────────────────────────────────────────────────────────────

export const referencesTo = z.object(
  {
    session: boundedText(TAG_VALUE_CHARACTERS_MAX, 'must name the session as the tag of the exchanges does'),
    which: z.exactOptional(z.enum(['all', 'latest'], { error: "must be 'all' or 'latest'" })),
  },
  { error: 'must be an object with session' },
)

export const reportBodySchema = z.object({
  agent_record_id: z.exactOptional(newRecordId),
  score: z.exactOptional(z.number({ error: 'must be a finite number; leave it out when there is none' }).nullable()),
  feedback: z.exactOptional(z.union([z.string(), jsonObject], { error: 'must be a string or an object' }).nullable()),
  references: z.exactOptional(
    z
      .array(newRecordId, { error: 'must be a list of receipts' })
      .max(REPORT_REFERENCES_MAX, { error: `may quote ${REPORT_REFERENCES_MAX} receipts` })
      .meta({ uniqueItems: true })
      .nullable(),
  ),
  references_to: z
    .exactOptional(referencesTo.nullable())
    .describe('In place of references: the exchanges with this tag, all of them or the latest.'),
  metadata: z.exactOptional(jsonObject.nullable()),
})
export type ReportBody = WireType<typeof reportBodySchema>

export const trainBodySchema = z.object({
  agent_record_id: z.exactOptional(newRecordId),
  text: boundedText(TRAIN_TEXT_CHARACTERS_MAX, `must be a text of 1 to ${TRAIN_TEXT_CHARACTERS_MAX} characters that is not blank`),
  session: z.string({ error: 'must name the session the request came from' }),
  release_id: z.string({ error: 'must name the release the request came from' }),
  requires: z.exactOptional(requiresList.nullable()),
  client: z
    .exactOptional(jsonValue)
    .describe('The requesting machine: platform, arch, release, commands. Fields that do not fit are dropped.'),
})
export type TrainBody = WireType<typeof trainBodySchema>

/** The envelope around a record that was collected elsewhere. Its payload is checked apart, so that a refusal names the place. */
export const importEnvelope = z.strictObject(
  {
    agent_record_id: newRecordId,
    request_type: z.enum(['inference', 'report'], { error: "must be 'inference' or 'report'" }),
    payload: jsonObject,
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? extraFields(issue.keys) : 'must be an import envelope') },
)

function extraFields(keys: readonly string[]): string {
  const shown = keys.slice(0, 3).map((key) => JSON.stringify(key))
  return `must hold agent_record_id, request_type and payload alone; ${shown.join(', ')} is not accepted`
}

export const importBodySchema = z.discriminatedUnion('request_type', [
  importEnvelope.extend({ request_type: z.literal('inference') }),
  importEnvelope.extend({ request_type: z.literal('report'), payload: reportBodySchema }),
])
export type ImportBody = WireType<typeof importBodySchema>

const BATCH_RULE = `must be a list of 1 to ${IMPORT_BATCH_RECORDS_MAX} envelopes`
const batchOf = <T extends z.ZodType>(record: T) =>
  z.strictObject(
    { records: z.array(record, { error: BATCH_RULE }).min(1, { error: BATCH_RULE }).max(IMPORT_BATCH_RECORDS_MAX, { error: BATCH_RULE }) },
    { error: 'must hold the field records and nothing else' },
  )
/** A batch whose envelopes are checked one after the other, so that each refusal names its place. */
export const importBatchEnvelope = batchOf(jsonObject)
export const importBatchBodySchema = batchOf(importBodySchema)

// ── answers ──────────────────────────────────────────────────────────────────────────────────

export const receiptSchema = z.object({ agent_record_id: storedId, scenario, request_type: z.enum(['inference', 'report']) })
export type Receipt = WireType<typeof receiptSchema>
export const receiptsSchema = z.object({ records: z.array(receiptSchema).describe('In the order sent.') })
export type Receipts = WireType<typeof receiptsSchema>
export const trainReceiptSchema = z.object({
  agent_record_id: storedId,
  scenario,
  request_type: z.literal('train'),
  page_path: text.describe("The request's page. Carries a page key when a service token was presented."),
})
export type TrainReceipt = WireType<typeof trainReceiptSchema>

export const exchangeSummarySchema = z.object({
  model: z.exactOptional(text),
  latency_ms: z.number().nonnegative().describe('From the whole request to the whole answer.'),
  input_tokens: z.exactOptional(count).describe('As the provider counted them.'),
  output_tokens: z.exactOptional(count),
  stream: z.exactOptional(z.literal(true)),
  complete: z.exactOptional(z.literal(false)).describe('False when the answer broke off.'),
  session: z.exactOptional(text).describe('The tag of that name.'),
  upstream: z.exactOptional(text).describe('Which of several upstreams answered.'),
  upstream_format: z.exactOptional(text).describe('The format that it was asked in, where the call was translated.'),
})
export type ExchangeSummary = WireType<typeof exchangeSummarySchema>
export const recordExcerptSchema = z.object({
  input: text.describe('The first words of what was asked last, of the feedback, or of the instruction.'),
  output: text.describe('The first words of the answer.'),
  tags: z.record(z.string(), text),
  score: z.exactOptional(z.number()).describe('Its own, or else that of the newest report that quotes it.'),
  cost: z.exactOptional(z.number().nonnegative()).describe('As the provider counted it.'),
})
export type RecordExcerpt = WireType<typeof recordExcerptSchema>
export const recordRowSchema = z.object({
  sequence: z.int().positive().describe('1, 2, 3 … in this scenario, without gaps.'),
  agent_record_id: storedId,
  request_type: requestType,
  created_at: seconds,
  references: z.array(storedId).describe('The receipts that a report quotes.'),
  artifact_ref: releaseId.nullable().describe('The release that served an inference.'),
  score: z.number().nullable(),
  summary: z.exactOptional(exchangeSummarySchema).describe('Of an exchange that was served here. Not part of the identity of a record.'),
})
/** What the list routes show of a record. */
export type RecordRow = WireType<typeof recordRowSchema>
export const listedRecordSchema = recordRowSchema.extend({
  excerpt: z.exactOptional(recordExcerptSchema).describe('Where it was asked for, as long as the body is kept.'),
})
export type ListedRecord = WireType<typeof listedRecordSchema>
export const recordListSchema = z.object({
  scenario,
  records: z.array(listedRecordSchema),
  next_after_sequence: z.exactOptional(count.nullable()).describe('Where the next page starts, oldest first; null at the end.'),
  next_before_sequence: z.exactOptional(count.nullable()).describe('Where the next page starts, newest first; null at the end.'),
})
export type RecordList = WireType<typeof recordListSchema>
export const foundRecordListSchema = z.object({
  scenario,
  records: z.array(listedRecordSchema).describe('Newest first, each with its excerpt.'),
  next_before_sequence: count.nullable().describe('Where the next page starts; null at the end. A page may be short, or empty, before it.'),
  waiting: count.describe('How many records of the scenario cannot be found yet.'),
})
export type FoundRecordList = WireType<typeof foundRecordListSchema>
export const fullRecordSchema = recordRowSchema.extend({ payload: jsonObject.describe('The payload, as it was stored.') })
