/** The routes of tokens, the audit, and who is forgotten. */
import { SMALL_BODY_BYTES_MAX } from '../../contract/index.ts'
import * as wire from '../../contract/wire/index.ts'
import * as access from '../handlers/access.ts'
import type { HttpRoute } from '../context.ts'
import { after, before, limit, order } from '../openapi/parameters.ts'
import { CHECKED_BODY, QUERIED, READING, refusals, WRITING } from '../openapi/refusals.ts'
import { answer, live } from '../openapi/spec.ts'
import { rowsOf } from './row.ts'

const { del, get, post } = rowsOf('access')

const CHANGED = refusals(CHECKED_BODY, WRITING, { 409: ['token_conflict'] })
const OF_TOKEN = refusals(CHANGED, { 404: ['unknown_token'] })

export const accessRoutes: readonly HttpRoute[] = [
  get('/svc/tokens', access.listTokens, {
    right: 'manage',
    operationId: 'listTokens',
    summary: 'Lists the tokens that were made, without their secrets',
    answers: { 200: live(wire.tokenListSchema, 'All of them, those that expired too.') },
    refusals: {},
  }),
  post('/svc/tokens', access.createToken, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'manage',
    operationId: 'createToken',
    summary: 'Makes a token: a name, a role, the scenarios that it is for, when it expires, and its limits',
    description: 'Its secret is answered this once, and only its hash is kept. It is in force when the answer comes.',
    body: wire.createTokenBodySchema,
    answers: { 201: answer(wire.newTokenSchema, 'The token, with its secret.', ['cache-control']) },
    refusals: refusals(CHANGED, { 400: ['bad_scenario_name', 'no_prices'], 409: ['token_exists', 'token_limit', 'service_open'] }),
  }),
  post('/svc/tokens/:token_name/limits', access.limitToken, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'manage',
    operationId: 'limitToken',
    summary: 'Gives a token limits, in place of those that it was given before',
    description: 'What is left out is as the configuration says; 0 is no limit. They are in force when the answer comes.',
    body: wire.tokenLimitsSchema,
    answers: { 200: answer(wire.tokenRowSchema, 'The token, as it is now.') },
    refusals: refusals(OF_TOKEN, { 400: ['no_prices'], 409: ['sign_in_token'] }),
  }),
  post('/svc/tokens/:token_name/rotate', access.rotateToken, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'manage',
    operationId: 'rotateToken',
    summary: 'Gives a token another secret; the old one is refused from then on',
    description: 'Without expires_in_days it lives as long again as it was given before.',
    body: wire.rotateTokenBodySchema,
    answers: { 200: answer(wire.newTokenSchema, 'The token, with its secret.', ['cache-control']) },
    refusals: refusals(OF_TOKEN, { 409: ['sign_in_token'] }),
  }),
  del('/svc/tokens/:token_name', access.revokeToken, {
    right: 'manage',
    operationId: 'revokeToken',
    summary: 'Removes a token: it is refused when the answer comes, and by other processes within a second',
    answers: { 200: answer(wire.revokedTokenSchema, 'It is gone, and its name is free.') },
    refusals: refusals(WRITING, { 404: ['unknown_token'], 409: ['token_conflict'] }),
  }),
  post('/svc/forget', access.forget, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'manage',
    operationId: 'forget',
    summary: "Removes a person's records by their tag, with what was made of them, and says where it looked for what is left",
    description:
      'With dry_run it only counts. It takes as long as reading every record does, and is answered when it is done; requests are served meanwhile. When it was interrupted, send it again.',
    body: wire.forgetBodySchema,
    answers: { 200: answer(wire.forgottenPersonSchema, 'What was removed, and every place that was looked at.', ['cache-control']) },
    refusals: refusals(CHECKED_BODY, WRITING, { 501: ['forget_unsupported'], 503: ['document_sealed'] }),
  }),
  get('/svc/audit', access.readAudit, {
    right: 'manage',
    operationId: 'readAudit',
    summary: 'Reads who changed what, when, from where, with what was there before and after',
    parameters: [order, after('after_sequence', 'entries, oldest first,'), before('before_sequence', 'entries, newest first,'), limit],
    answers: {
      200: live(wire.auditListSchema, 'One page; next_after_sequence, or next_before_sequence with the newest first, starts the next.'),
    },
    refusals: refusals(QUERIED, READING),
  }),
]
