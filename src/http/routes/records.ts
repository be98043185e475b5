/** The routes of records: sending them, and reading them back. */
import { IMPORT_BODY_BYTES_MAX, REPORT_BODY_BYTES_MAX, SMALL_BODY_BYTES_MAX } from '../../contract/index.ts'
import * as wire from '../../contract/wire/index.ts'
import type { HttpRoute } from '../context.ts'
import * as records from '../records.ts'
import { rowsOf } from './row.ts'
import { z } from 'zod'
import { answer, live } from '../openapi/spec.ts'
import { after, before, limit, order, query, scenario, startingRelease, tags } from '../openapi/parameters.ts'
import { AUDITED, CHECKED_BODY, CREATED, KNOWN, NAMED, QUERIED, RECORDED, refusals, TAGGED } from '../openapi/refusals.ts'

const { get, post } = rowsOf('records')

const SENT = refusals(NAMED, TAGGED, CHECKED_BODY, RECORDED, CREATED)

export const recordRoutes: readonly HttpRoute[] = [
  post('/svc/records', records.importOne, {
    bodyBytesMax: IMPORT_BODY_BYTES_MAX,
    right: 'import',
    operationId: 'importRecord',
    summary: 'Stores one record that was collected elsewhere',
    description: 'The same id with the same content may be sent again and again; with other content it is refused.',
    parameters: [scenario, startingRelease, tags],
    body: wire.importBodySchema,
    answers: { 200: answer(wire.receiptSchema, 'It is on the disk.') },
    refusals: SENT,
  }),
  post('/svc/records/batch', records.importBatch, {
    bodyBytesMax: IMPORT_BODY_BYTES_MAX,
    right: 'import',
    operationId: 'importRecords',
    summary: 'Stores many records at once, all or none',
    description: 'An inference must come before the reports that quote it. A refusal names the place, such as records[3].payload.score.',
    parameters: [scenario, startingRelease, tags],
    body: wire.importBatchBodySchema,
    answers: { 200: answer(wire.receiptsSchema, 'They are on the disk.') },
    refusals: SENT,
  }),
  post('/svc/report', records.report, {
    bodyBytesMax: REPORT_BODY_BYTES_MAX,
    right: 'report',
    operationId: 'sendReport',
    summary: 'Takes feedback that quotes receipts',
    description:
      'Null, and for references and metadata also empty, is the same as absent; other fields are dropped. metadata.training.eligible is refused.',
    parameters: [scenario, startingRelease, tags],
    body: wire.reportBodySchema,
    answers: { 200: answer(wire.receiptSchema, 'It is on the disk.') },
    refusals: SENT,
  }),
  post('/svc/train', records.train, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'ask',
    operationId: 'sendInstruction',
    summary: 'Takes one instruction: what a person asks of the harness, in plain words',
    description:
      'Of a scenario that exists and runs in manual or hybrid mode. That it was trained is another matter: ask for its progress.',
    parameters: [scenario],
    body: wire.trainBodySchema,
    answers: { 200: answer(wire.trainReceiptSchema, 'It is on the disk.') },
    refusals: refusals(NAMED, CHECKED_BODY, KNOWN, AUDITED, {
      400: ['auto_mode', 'credential_in_text', 'override_in_text'],
      409: ['record_conflict'],
    }),
  }),
  get('/svc/scenarios/:scenario/records', records.list, {
    right: 'read',
    operationId: 'listRecords',
    summary: 'Lists the records of a scenario, without their payloads',
    parameters: [
      order,
      after('after_sequence', 'records, oldest first,'),
      before('before_sequence', 'records, newest first,'),
      limit,
      query('request_type', 'Only records of this type.', z.enum(['inference', 'report', 'train'])),
    ],
    answers: {
      200: live(wire.recordListSchema, 'One page; next_after_sequence, or next_before_sequence with the newest first, starts the next.'),
    },
    refusals: refusals(QUERIED, KNOWN),
  }),
  get('/svc/scenarios/:scenario/records/:record_id', records.read, {
    right: 'read',
    operationId: 'readRecord',
    summary: 'Reads one record whole',
    answers: { 200: live(wire.fullRecordSchema, 'The row, with its payload.') },
    refusals: refusals(KNOWN, { 404: ['unknown_record', 'record_expired'] }),
  }),
]
