/** The routes of records: sending them, and reading them back. */
import {
  IMPORT_BODY_BYTES_MAX,
  SEARCH_TEXT_CHARACTERS_MAX,
  SEARCH_WORDS_MAX,
  SMALL_BODY_BYTES_MAX,
  TAGS_MAX,
} from '../../contract/index.ts'
import * as wire from '../../contract/wire/index.ts'
import type { HttpRoute } from '../context.ts'
import * as records from '../handlers/records.ts'
import { REQUEST_TYPES } from '../request-fields.ts'
import { search } from '../handlers/search.ts'
import { rowsOf } from './row.ts'
import { z } from 'zod'
import { answer, live } from '../openapi/spec.ts'
import { after, before, limit, order, query, recording, scenario, startingRelease, tags } from '../openapi/parameters.ts'
import { AUDITED, CHECKED_BODY, CREATED, KNOWN, NAMED, QUERIED, RECORDED, refusals, TAGGED } from '../openapi/refusals.ts'

const { get, post } = rowsOf('records')

const ofType = query('request_type', 'Only records of this type.', z.enum(REQUEST_TYPES))
const number = z.number()

const SENT = refusals(NAMED, TAGGED, CHECKED_BODY, RECORDED, CREATED)

export const recordRoutes: readonly HttpRoute[] = [
  post('/svc/records', records.importOne, {
    bodyBytesMax: IMPORT_BODY_BYTES_MAX,
    right: 'import',
    operationId: 'importRecord',
    summary: 'Stores one record that was collected elsewhere',
    description: 'The same id with the same content may be sent again and again; with other content it is refused.',
    parameters: [scenario, startingRelease, recording, tags],
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
    parameters: [scenario, startingRelease, recording, tags],
    body: wire.importBatchBodySchema,
    answers: { 200: answer(wire.receiptsSchema, 'They are on the disk.') },
    refusals: SENT,
  }),
  post('/svc/report', records.report, {
    right: 'report',
    operationId: 'sendReport',
    summary: 'Takes feedback that quotes receipts',
    description:
      'Null, and for references and metadata also empty, is the same as absent; other fields are dropped. metadata.training.eligible is refused.',
    parameters: [scenario, startingRelease, recording, tags],
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
    parameters: [scenario, recording],
    body: wire.trainBodySchema,
    answers: { 200: answer(wire.trainReceiptSchema, 'It is on the disk.') },
    refusals: refusals(NAMED, CHECKED_BODY, KNOWN, AUDITED, {
      400: ['auto_mode', 'credential_in_text', 'override_in_text'],
      409: ['record_conflict'],
      501: ['recording_off'],
      503: ['redaction_failed'],
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
      ofType,
      query(
        'excerpts',
        'Whether rows have the first words of their records, where the store can search.',
        z.enum(['yes', 'no']).default('no'),
      ),
    ],
    answers: {
      200: live(wire.recordListSchema, 'One page; next_after_sequence, or next_before_sequence with the newest first, starts the next.'),
    },
    refusals: refusals(QUERIED, KNOWN),
  }),
  get('/svc/scenarios/:scenario/search', search, {
    right: 'read',
    operationId: 'searchRecords',
    summary: 'Finds records by their words, tags, scores and more, newest first',
    description:
      'A record must fit all that is asked. Words are those of what was asked last and of the answer, of feedback and of instructions. What was stored a moment ago may be found a little later, and what capacity evicted is found no longer.',
    parameters: [
      query(
        'text',
        `Words that must occur: "several words" in this order, begin* for a beginning, -without for one that must not. At most ${SEARCH_WORDS_MAX}.`,
        z.string().max(SEARCH_TEXT_CHARACTERS_MAX),
      ),
      ofType,
      query('model', 'The model that answered.'),
      query('release_id', 'The release that served it.'),
      query('status', 'Of an exchange: whether its answer is whole.', z.enum(['complete', 'broken_off'])),
      query('tag', 'A tag and its value, such as user:alice; may be repeated.', z.array(z.string()).max(TAGS_MAX)),
      query('quotes', 'Only reports that quote this record.'),
      query('min_score', 'The least score: its own, or else that of the newest report that quotes it.', number),
      query('max_score', 'The highest score.', number),
      query('since', 'Stored then or later, in seconds since the epoch.', number),
      query('until', 'Stored then or earlier.', number),
      before('before_sequence', 'records'),
      limit,
    ],
    answers: { 200: live(wire.foundRecordListSchema, 'One page; next_before_sequence starts the next.') },
    refusals: refusals(QUERIED, KNOWN, { 501: ['search_unsupported'] }),
  }),
  get('/svc/scenarios/:scenario/records/:record_id', records.read, {
    right: 'read',
    operationId: 'readRecord',
    summary: 'Reads one record whole',
    answers: { 200: live(wire.fullRecordSchema, 'The row, with its payload.') },
    refusals: refusals(KNOWN, { 404: ['unknown_record', 'record_expired', 'record_not_kept'] }),
  }),
]
