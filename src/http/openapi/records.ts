/** The routes of records, described: sending them, and reading them back. */
import { z } from 'zod'
import * as answers from './answers.ts'
import * as bodies from './bodies.ts'
import { answer, live, type Descriptions } from './description.ts'
import { after, before, limit, query, scenario, startingRelease, tags } from './parameters.ts'
import { CHECKED_BODY, CREATED, KNOWN, NAMED, QUERIED, RECORDED, refusals, TAGGED, WRITING } from './refusals.ts'

const SENT = refusals(NAMED, TAGGED, CHECKED_BODY, RECORDED, CREATED)

export const recordDescriptions: Descriptions = {
  'POST /svc/records': {
    operationId: 'importRecord',
    tag: 'records',
    summary: 'Stores one record that was collected elsewhere',
    description: 'The same id with the same content may be sent again and again; with other content it is refused.',
    parameters: [scenario, startingRelease, tags],
    body: bodies.importBody,
    answers: { 200: answer(answers.receipt, 'It is on the disk.') },
    refusals: SENT,
  },
  'POST /svc/records/batch': {
    operationId: 'importRecords',
    tag: 'records',
    summary: 'Stores many records at once, all or none',
    description: 'An inference must come before the reports that quote it. A refusal names the place, such as records[3].payload.score.',
    parameters: [scenario, startingRelease, tags],
    body: bodies.importBatchBody,
    answers: { 200: answer(answers.receipts, 'They are on the disk.') },
    refusals: SENT,
  },
  'POST /svc/report': {
    operationId: 'sendReport',
    tag: 'records',
    summary: 'Takes feedback that quotes receipts',
    description:
      'Null, and for references and metadata also empty, is the same as absent; other fields are dropped. metadata.training.eligible is refused.',
    parameters: [scenario, startingRelease, tags],
    body: bodies.reportBody,
    answers: { 200: answer(answers.receipt, 'It is on the disk.') },
    refusals: SENT,
  },
  'POST /svc/train': {
    operationId: 'sendInstruction',
    tag: 'records',
    summary: 'Takes one instruction: what a person asks of the harness, in plain words',
    description:
      'Of a scenario that exists and runs in manual or hybrid mode. That it was trained is another matter: ask for its progress.',
    parameters: [scenario],
    body: bodies.trainBody,
    answers: { 200: answer(answers.trainReceipt, 'It is on the disk.') },
    refusals: refusals(NAMED, CHECKED_BODY, KNOWN, WRITING, {
      400: ['auto_mode', 'credential_in_text', 'override_in_text'],
      409: ['record_conflict'],
    }),
  },
  'GET /svc/scenarios/:scenario/records': {
    operationId: 'listRecords',
    tag: 'records',
    summary: 'Lists the records of a scenario, without their payloads',
    parameters: [
      query('order', 'Which come first.', z.enum(['oldest', 'newest']).default('oldest')),
      after('after_sequence', 'records, oldest first,'),
      before('before_sequence', 'records, newest first,'),
      limit,
      query('request_type', 'Only records of this type.', z.enum(['inference', 'report', 'train'])),
    ],
    answers: {
      200: live(answers.records, 'One page; next_after_sequence, or next_before_sequence with the newest first, starts the next.'),
    },
    refusals: refusals(QUERIED, KNOWN),
  },
  'GET /svc/scenarios/:scenario/records/:record_id': {
    operationId: 'readRecord',
    tag: 'records',
    summary: 'Reads one record whole',
    answers: { 200: live(answers.record, 'The row, with its payload.') },
    refusals: refusals(KNOWN, { 404: ['unknown_record', 'record_expired'] }),
  },
}
