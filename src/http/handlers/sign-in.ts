/** People who sign in with the provider of the deployment: to it, back from it, who one is, and out again. */
import { conflict, isObject, unauthorized, unknown, type Caller, type SignInOffer } from '../../contract/index.ts'
import { accessOf, type SignInAttempt } from '../../sign-in/index.ts'
import { actorOf, peerOf } from './audit.ts'
import type { HttpContext } from '../context.ts'
import { readCookie, setCookie } from '../credentials/cookies.ts'
import { liveJson, type HttpReply } from '../reply.ts'
import type { SignInDesk } from '../services.ts'

export const SIGN_IN_START = '/svc/sign-in/start'
const ATTEMPT_SECONDS = 600
const HOME = '/console'

export function offer({ services: { signIn } }: HttpContext): HttpReply {
  const offered = signIn === null ? null : { name: signIn.name, start_url: `${signIn.origin}${SIGN_IN_START}` }
  return liveJson({ sign_in: offered } satisfies SignInOffer)
}

export async function start(context: HttpContext): Promise<HttpReply> {
  const { provider, origin } = deskOf(context)
  const { url, attempt } = await provider.begin()
  setCookie(
    context,
    'attempt',
    origin,
    attemptText({ ...attempt, returnTo: returnAddress(context.query.get('return_to')) }),
    ATTEMPT_SECONDS,
  )
  return redirect(url)
}

/** An attempt is finished once, by the browser that began it. */
export async function callback(context: HttpContext): Promise<HttpReply> {
  const { services, rawQuery, logFields } = context
  const { provider, origin, groups: known, lifeSeconds } = deskOf(context)
  const attempt = attemptIn(readCookie(context, 'attempt', origin) ?? '')
  setCookie(context, 'attempt', origin, '', 0)
  if (attempt === null)
    throw unauthorized('this browser began no sign-in within the last ten minutes; sign in from the console', 'sign_in_failed')
  const { person, groups } = await provider.finish(rawQuery, attempt)
  logFields.by = person
  const access = accessOf(groups, known)
  if (access === null)
    throw unauthorized(
      `${person} belongs to no group that may use this service; ask whoever runs it to list one of your groups in svc.sign_in.groups`,
      'no_group',
    )
  const { token } = await services.tokens.signIn({ person, lifeSeconds, ...access }, { id: context.id, from: peerOf(context.request) })
  setCookie(context, 'signIn', origin, token, lifeSeconds)
  return redirect(`${origin}${attempt.returnTo}`)
}

export async function signOut(context: HttpContext): Promise<HttpReply> {
  const { principal, services } = context
  if (principal.kind !== 'service' || principal.signIn === null)
    throw conflict('no_sign_in', 'the caller has a token, or needs none, and so nothing to sign out of; forget the token, or revoke it')
  await services.tokens.signOut(principal.signIn, actorOf(context))
  setCookie(context, 'signIn', deskOf(context).origin, '', 0)
  return { status: 204, headers: {}, body: '' }
}

export function caller({ principal }: HttpContext): HttpReply {
  if (principal.kind !== 'service')
    return liveJson({ kind: 'anyone', name: null, role: null, scenarios: null, expires_at: null } satisfies Caller)
  const { name, role, scenarios, expiresAt, signIn } = principal
  return liveJson({
    kind: signIn === null ? 'token' : 'person',
    name,
    role,
    scenarios: scenarios === null ? null : [...scenarios],
    expires_at: expiresAt,
  } satisfies Caller)
}

/** What the sign-in needs, with the origin that people see. */
function deskOf({ services: { signIn, desk } }: HttpContext): SignInDesk & { readonly origin: string } {
  if (signIn === null || desk === null)
    throw unknown('no_sign_in', 'this service has no sign-in for people; use a token, or set svc.sign_in')
  return { ...desk, origin: signIn.origin }
}

const redirect = (location: string): HttpReply => ({ status: 303, headers: { location, 'referrer-policy': 'no-referrer' }, body: '' })

/** The console, and the two pages. Everything else could lead to others, or around in a circle. */
const RETURN = /^\/(?:console|svc\/harness\/(?:releases|requests)\/[\w.~%-]+\/page)(?:[?#][\x21-\x5b\x5d-\x7e]*)?$/
const RETURN_CHARACTERS_MAX = 1500

export const returnAddress = (wanted: string | null): string =>
  wanted !== null && wanted.length <= RETURN_CHARACTERS_MAX && RETURN.test(wanted) ? wanted : HOME

interface KeptAttempt extends SignInAttempt {
  readonly returnTo: string
}

const attemptText = (attempt: KeptAttempt): string => Buffer.from(JSON.stringify(attempt)).toString('base64url')

/** A browser that changes it makes its own sign-in fail: so it is not signed, but the address is judged again. */
function attemptIn(text: string): KeptAttempt | null {
  try {
    const kept: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (!isObject(kept)) return null
    const { state, nonce, verifier, returnTo } = kept
    if (!isText(state) || !isText(nonce) || !isText(verifier)) return null
    return { state, nonce, verifier, returnTo: returnAddress(isText(returnTo) ? returnTo : null) }
  } catch {
    return null
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
