/** The value types of the configuration, each with one sentence that states the rule. Keys share them, since making one takes time at every start. */
import { isIP } from 'node:net'
import * as z from 'zod'
import { Sealing } from '../kit/index.ts'
import { hasCredentials } from '../contract/index.ts'
import { isLoopback } from './loopback.ts'

/** A Node timer with more seconds than this fires at once. */
export const TIMER_SECONDS_MAX = 2_147_483
const SECRET_SHAPE = /^[\x21-\x7e]*$/

export const text = z.string('must be text').min(1, 'must not be empty')
/** Must fit into a header line. */
export const secret = text.regex(SECRET_SHAPE, 'must be printable ASCII without blanks')
/** Unlike a token it may contain blanks, as in `Basic …`. */
export const headerValue = text.regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII')
export const flag = z.boolean('must be true or false')
export const count = whole('must be a whole number of at least 1', 1, Number.MAX_SAFE_INTEGER)
export const from0 = whole('must be a whole number of at least 0', 0, Number.MAX_SAFE_INTEGER)
/** A limit; 0, the default, means none. */
export const none = from0.default(0)
export const oneOf = <const T extends readonly string[]>(words: T) => z.enum(words, `must be one of ${words.join(', ')}`)

const RATIO = 'must be a number from 0 to 1'
export const ratio = z.number(RATIO).min(0, RATIO).max(1, RATIO)

export const sealingKey = secret.refine(
  (value) => Sealing.read(value) !== null,
  'must be 32 random bytes in base64, or several such keys with commas between them, the newest first; make one with: openssl rand -base64 32',
)

export function whole(rule: string, least: number, most: number) {
  return z.int(rule).min(least, rule).max(most, rule)
}

export function seconds(least: 'zero' | 'above zero') {
  const rule = `must be a number of seconds ${least === 'zero' ? 'from 0' : 'above 0'} to ${TIMER_SECONDS_MAX}`
  const number = z.number(rule).max(TIMER_SECONDS_MAX, rule)
  return least === 'zero' ? number.min(0, rule) : number.gt(0, rule)
}

/** A base address. Messages never quote it, since it may hold a password. */
export const baseUrl = address((value) => addressProblem(value) ?? v1Problem(value))

/** The address for spans: it may end in /v1/traces. */
export const collectorUrl = address(addressProblem)

function address(problemOf: (value: string) => string | null) {
  return addressChecked(problemOf).overwrite((url) => url.replace(/(?<!\/)\/+$/, ''))
}

function addressChecked(problemOf: (value: string) => string | null) {
  return text.check((context) => {
    const problem = problemOf(context.value)
    if (problem !== null) context.issues.push({ code: 'custom', input: context.value, message: problem })
  })
}

function addressProblem(value: string): string | null {
  if (!URL.canParse(value)) return 'must be a whole URL such as https://host:port'
  const url = new URL(value)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must start with http:// or https://'
  if (url.username !== '' || url.password !== '') return 'must not hold credentials; give the key in its own key'
  return /[?#]/.test(value) ? 'must have no query and no fragment' : null
}

function v1Problem(value: string): string | null {
  if (!/\/v1\/*$/.test(new URL(value).pathname)) return null
  return 'must not end in /v1: the path the client asked for, which starts with /v1, is added to it'
}

/** Compared character by character, so nothing is taken off its end. */
export const issuerUrl = addressChecked((value) => addressProblem(value) ?? plainProblem(value))

/** An address that passes over a network in the clear would give sign-ins away. */
export const publicUrl = addressChecked((value) => addressProblem(value) ?? plainProblem(value) ?? pathProblem(value)).overwrite(
  (url) => new URL(url).origin,
)

function plainProblem(value: string): string | null {
  const { protocol, hostname } = new URL(value)
  if (protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, ''))) return null
  return 'must start with https://; http:// is for this machine alone'
}

const pathProblem = (value: string): string | null =>
  new URL(value).pathname === '/' ? null : 'must have no path: scheme, host and port alone'

function originProblem(value: string): string | null {
  const wanted = 'must be an origin such as https://console.example.com: scheme, host and port, and nothing else'
  if (value.includes('*')) return `${wanted}; wildcards are not supported, list each origin`
  if (!URL.canParse(value)) return wanted
  const url = new URL(value)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${wanted}; the scheme is http or https`
  return url.origin === value ? null : `${wanted}; browsers send ${url.origin}`
}

export const origin = text.check((context) => {
  const problem = originProblem(context.value)
  if (problem !== null) context.issues.push({ code: 'custom', input: context.value, message: problem })
})

export const isHostName = (value: string): boolean => /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(value)

export const host = text.refine(
  (value) => isIP(value) !== 0 || isHostName(value),
  'must be a host name or an address alone: no scheme, no port (that is svc.port), no brackets',
)

export const repository = text.refine((value) => !hasCredentials(value), "must not hold credentials; use one of git's credential helpers")

export function section<S extends z.core.$ZodLooseShape>(shape: S) {
  return z.strictObject(shape, 'must be a section with keys of its own')
}
