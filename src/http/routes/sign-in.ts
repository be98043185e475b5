/** The routes by which people sign in and out. */
import * as wire from '../../contract/wire/index.ts'
import type { HttpRoute } from '../context.ts'
import { query } from '../openapi/parameters.ts'
import { refusals, WRITING, type Refusals } from '../openapi/refusals.ts'
import { live, other } from '../openapi/spec.ts'
import * as signIn from '../handlers/sign-in.ts'
import { SIGN_IN_START } from '../handlers/sign-in.ts'
import { rowsOf } from './row.ts'

const { del, get } = rowsOf('access')

/** Open to those who have no token yet. */
const OPEN = { access: 'open', right: null, scope: 'any' } as const
const OF_PROVIDER: Refusals = { 404: ['no_sign_in'], 429: ['sign_ins_limit'], 503: ['sign_in_unavailable'] }

export const signInRoutes: readonly HttpRoute[] = [
  get('/svc/sign-in', signIn.offer, {
    ...OPEN,
    operationId: 'readSignIn',
    summary: 'Says whether people can sign in with accounts of their own, and where',
    answers: { 200: live(wire.signInOfferSchema, 'What the button says, and where it leads; null where there is none.') },
    refusals: {},
  }),
  get(SIGN_IN_START, signIn.start, {
    ...OPEN,
    operationId: 'startSignIn',
    summary: 'Sends a browser to the sign-in provider',
    parameters: [query('return_to', 'Where to go afterwards: the console, or a page of this service. Anything else is the console.')],
    answers: { 303: other('text/plain', 'To the provider, with a cookie that its answer is held against.') },
    refusals: OF_PROVIDER,
  }),
  get('/svc/sign-in/callback', signIn.callback, {
    ...OPEN,
    operationId: 'signIn',
    summary: 'Takes the answer of the sign-in provider',
    description: 'For the browser that began alone. A person of no group that svc.sign_in.groups lists is refused.',
    answers: { 303: other('text/plain', 'Back to where the person was, with the cookie of the sign-in.') },
    refusals: refusals(OF_PROVIDER, WRITING, { 401: ['sign_in_failed', 'no_group'] }),
  }),
  del('/svc/sign-in', signIn.signOut, {
    right: null,
    scope: 'any',
    operationId: 'signOut',
    summary: 'Ends the sign-in of the person who asks',
    answers: { 204: { description: 'It is refused from now on, and by other processes within a second.', content: {}, headers: [] } },
    refusals: refusals(WRITING, { 409: ['no_sign_in'] }),
  }),
  get('/svc/caller', signIn.caller, {
    right: null,
    scope: 'any',
    operationId: 'readCaller',
    summary: 'Says whose request this is: a person, a token, or anyone',
    answers: { 200: live(wire.callerSchema, 'The name as the audit has it, the role, and until when.') },
    refusals: {},
  }),
]
