/** The routes of commits and releases. */
import * as wire from '../../contract/wire/index.ts'
import type { HttpRoute } from '../context.ts'
import * as releases from '../handlers/releases.ts'
import { rowsOf } from './row.ts'
import { z } from 'zod'
import { COMMIT_FILTER_IDS_MAX, RECORD_ID_CHARACTERS_MAX, SMALL_BODY_BYTES_MAX } from '../../contract/index.ts'
import { answer, live } from '../openapi/spec.ts'
import { after, before, limit, query } from '../openapi/parameters.ts'
import { AUDITED, CHECKED_BODY, KNOWN, QUERIED, refusals } from '../openapi/refusals.ts'

const { get, post } = rowsOf('releases')

const SAID = refusals(CHECKED_BODY, { 400: ['credential_in_text'] })
const MOVED = refusals(SAID, KNOWN, AUDITED, {
  404: ['unknown_release'],
  409: ['release_refused', 'bad_adapter', 'adapter_ignored', 'adapter_differs', 'base_changed', 'engine_full'],
  501: ['unsupported_adapter', 'unsupported_architecture'],
  503: ['live_weights_gone'],
})
const recordIds = z.array(z.string().min(1).max(RECORD_ID_CHARACTERS_MAX)).max(COMMIT_FILTER_IDS_MAX)

export const releaseRoutes: readonly HttpRoute[] = [
  get('/svc/scenarios/:scenario/commits', releases.commits, {
    right: 'read',
    operationId: 'listCommits',
    summary: 'Lists the steps of a scenario, oldest first',
    parameters: [
      after('after_step', 'commits'),
      limit,
      query('record_id', 'Only commits that consumed one of these; may stand several times.', recordIds),
    ],
    answers: { 200: live(wire.commitListSchema, 'One page; next_after_step starts the next.') },
    refusals: refusals(QUERIED, KNOWN),
  }),
  get('/svc/scenarios/:scenario/releases', releases.list, {
    right: 'read',
    operationId: 'listReleases',
    summary: 'Lists the releases of a scenario, newest first',
    description: 'All of them, or one page where limit or before_step is given.',
    parameters: [before('before_step', 'rows'), limit],
    answers: { 200: live(wire.releaseListSchema, 'One row per step. A step that made no release shows the one it ran on.') },
    refusals: refusals(QUERIED, KNOWN),
  }),
  post('/svc/scenarios/:scenario/rollback', releases.rollback, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'review',
    operationId: 'rollback',
    summary: 'Serves an earlier release again',
    description:
      'As a new row and a new release with its content; nothing is rewound. The release that is served already is answered as it is.',
    body: wire.moveBodySchema,
    answers: { 200: answer(wire.headSchema, 'The head.') },
    refusals: refusals(MOVED, { 409: ['not_restorable'] }),
  }),
  post('/svc/scenarios/:scenario/promote', releases.promote, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'review',
    operationId: 'promote',
    summary: 'Serves a release that was held for review',
    description: 'As a new row and a new release with its content. The release that is served already is answered as it is.',
    body: wire.moveBodySchema,
    answers: { 200: answer(wire.headSchema, 'The head.') },
    refusals: refusals(MOVED, { 409: ['not_held'] }),
  }),
  post('/svc/scenarios/:scenario/withdraw', releases.withdraw, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'review',
    operationId: 'withdraw',
    summary: 'Ends the provisional release of a scenario',
    description: 'As a new row; what is served to everyone stays. Its content does not become provisional again until the head has moved.',
    body: wire.moveBodySchema,
    answers: { 200: answer(wire.headSchema, 'The head, and the step of the new row.') },
    refusals: refusals(SAID, KNOWN, AUDITED, { 409: ['not_provisional'] }),
  }),
  post('/svc/scenarios/:scenario/reject', releases.reject, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'review',
    operationId: 'reject',
    summary: 'Rejects a release that was held for review, with a reason',
    description:
      'As a new row; what is served stays. The release cannot be promoted from then on, and its content comes back only where a person asks for it. Rejected already with the same reason, it is answered as it is.',
    body: wire.rejectBodySchema,
    answers: { 200: answer(wire.headSchema, 'The head, and the step of the row that rejected it.') },
    refusals: refusals(SAID, KNOWN, AUDITED, { 404: ['unknown_release'], 409: ['not_held'] }),
  }),
  post('/svc/scenarios/:scenario/comment', releases.commentOn, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'review',
    operationId: 'comment',
    summary: 'Says something of a release that is or was held for review',
    description:
      'As a new row that decides nothing; what is served stays. The same words again right after are one comment. A release takes 100 of them.',
    body: wire.commentBodySchema,
    answers: { 200: answer(wire.headSchema, 'The head, and the step of the row with the comment.') },
    refusals: refusals(SAID, KNOWN, AUDITED, { 404: ['unknown_release'], 409: ['not_held', 'too_many_comments'] }),
  }),
]
