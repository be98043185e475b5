/** Sends one request to the service and reads the whole answer. The only module that sends anything, and that words failures. */
import { ServiceFailure } from './failure.ts'
import { showHiddenLine } from './hidden.ts'
import { PROVISIONAL_HEADER, SCENARIO_HEADER, TOKEN_VARIABLE } from './names.ts'

export interface ServiceEndpoint {
  /** Without a slash at its end. */
  readonly url: string
  readonly scenario: string | null
  readonly token: string | null
  readonly timeoutSeconds: number
  /** Takes the provisional release. */
  readonly provisional?: boolean
}
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With its query, when it has one. */
  readonly path: string
  /** JSON, as text. */
  readonly body?: string
}
export interface ServiceResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const MESSAGE_CHARACTERS_MAX = 2000
/** Trouble that goes away by itself, mostly. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])

export const isPassing = (status: number): boolean => PASSING.has(status)

/** Throws when no answer comes in time, or the answer breaks off. A redirect is an answer: following it would carry the token elsewhere. */
export async function ask(endpoint: ServiceEndpoint, { method, path, body }: ServiceRequest): Promise<ServiceResponse> {
  const signal = AbortSignal.timeout(endpoint.timeoutSeconds * 1000)
  const init = { method, headers: headersOf(endpoint), redirect: 'manual', signal, ...(body !== undefined && { body }) } as const
  const response = await fetch(endpoint.url + path, init).catch((error: unknown) => {
    throw timedOut(endpoint, error) ?? unreachable(endpoint, error)
  })
  const text = await response.text().catch((error: unknown) => {
    throw timedOut(endpoint, error) ?? brokenOff(error)
  })
  return { status: response.status, headers: response.headers, text }
}

/** A header is bytes; a name beyond ASCII goes as UTF-8. */
function headersOf({ scenario, token, provisional = false }: ServiceEndpoint): Record<string, string> {
  return {
    'content-type': 'application/json',
    // Refusals as data, also where people are given something else.
    accept: 'application/json, */*;q=0.5',
    ...(scenario !== null && { [SCENARIO_HEADER]: bytesOf(scenario) }),
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(provisional && { [PROVISIONAL_HEADER]: 'yes' }),
  }
}

/** One character a byte. Written without Node's own means: browsers run this too. */
const bytesOf = (text: string): string => Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('')

function timedOut({ url, timeoutSeconds }: ServiceEndpoint, error: unknown): ServiceFailure | null {
  if (!(error instanceof Error) || error.name !== 'TimeoutError') return null
  return new ServiceFailure(`the service at ${url} gave no whole answer within ${timeoutSeconds} s: is it busy or stuck?`, {
    code: 'timeout',
  })
}

const unreachable = ({ url }: ServiceEndpoint, error: unknown): ServiceFailure =>
  new ServiceFailure(`the service cannot be reached (${reasonOf(error)}): is it running at ${url}?`, { code: 'unreachable', cause: error })

const brokenOff = (error: unknown): ServiceFailure =>
  new ServiceFailure(`the answer of the service broke off (${reasonOf(error)}): try again`, { code: 'broken_answer', cause: error })

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}

/** Of a token that was known: the service's words say which one would do. */
const SAY_WHAT_TO_DO: ReadonlySet<string> = new Set(['token_expired', 'role_forbids', 'other_scenario'])

/** What an answer that is no success comes to, with the service's own words and the next thing to do. */
export function refusalOf(endpoint: ServiceEndpoint, answer: ServiceResponse): ServiceFailure {
  const code = field(field(parseJson(answer.text), 'error'), 'code')
  const cure = typeof code === 'string' && SAY_WHAT_TO_DO.has(code) ? '' : cureFor(answer.status)
  return new ServiceFailure(problemOf(endpoint, answer) + cure, {
    status: answer.status,
    code: typeof code === 'string' ? code : null,
  })
}

/** One line, also when a proxy answers with a page; and a token in it is cut out. */
export function problemOf({ token }: ServiceEndpoint, { status, text }: ServiceResponse): string {
  const message = field(field(parseJson(text), 'error'), 'message')
  const words = showHiddenLine((typeof message === 'string' ? message : text).replaceAll(/\s+/g, ' ').trim())
  const shown = (token === null ? words : words.replaceAll(token, '…')).slice(0, MESSAGE_CHARACTERS_MAX)
  return `the service answered ${status}${shown === '' ? '' : `: ${shown}`}`
}

/** The next thing to do, in brackets; nothing where the service's own words say it. */
export function cureFor(status: number): string {
  if (status === 401) return ` (set ${TOKEN_VARIABLE} to the service's token)`
  if (status >= 300 && status < 400) return ' (redirects are not followed; give the address itself)'
  return isPassing(status) ? ' (try again in a moment)' : ''
}

/** Undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An own field of an object; undefined for anything else. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined
}
