/** Browser consoles: listed origins are let in before any route runs, every other origin is turned away there. */
import type { IncomingHttpHeaders } from 'node:http'
import { HEADER, unauthorized } from '../contract/index.ts'

const METHODS = ['GET', 'POST', 'DELETE']
const REQUEST_HEADERS = ['authorization', 'content-type', HEADER.scenario]
const EXPOSED = [HEADER.receipt, HEADER.release, HEADER.artifactVersion].join(', ')
const PREFLIGHT_SECONDS = '600'

export interface CorsAnswer {
  readonly headers: Readonly<Record<string, string>>
  /** A preflight is answered here and reaches no route. */
  readonly isPreflight: boolean
}

const NOTHING: CorsAnswer = { headers: {}, isPreflight: false }
const VARY: CorsAnswer = { headers: { vary: 'Origin' }, isPreflight: false }

/** The service is open when no token stands between a caller and it. */
export function answerOrigin(origins: ReadonlySet<string>, isOpen: boolean, method: string, headers: IncomingHttpHeaders): CorsAnswer {
  if (origins.size === 0) {
    if (isOpen) refuseForeignPage(method, headers)
    return NOTHING
  }
  const { origin } = headers
  if (origin === undefined) return VARY
  if (!origins.has(origin)) throw unauthorized('this origin is not one of svc.console_origins')
  const allowed = { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED }
  const asked = headers['access-control-request-method']
  if (method !== 'OPTIONS' || asked === undefined) return { headers: allowed, isPreflight: false }
  refuseBadPreflight(asked, headers['access-control-request-headers'] ?? '')
  return { headers: { ...allowed, ...preflightHeaders(headers) }, isPreflight: true }
}

/** A page of another site cannot read our answers, but on an open service it could act: browsers say where a request comes from. */
function refuseForeignPage(method: string, headers: IncomingHttpHeaders): void {
  if (headers['sec-fetch-site'] !== 'cross-site' || method === 'GET' || method === 'HEAD') return
  throw unauthorized('a web page of another site may not act on a service without a token; set svc.token, or list its origin')
}

function refuseBadPreflight(method: string, headers: string): void {
  const names = headers.split(',').map((name) => name.trim().toLowerCase())
  const isAllowed = METHODS.includes(method) && names.every((name) => name === '' || REQUEST_HEADERS.includes(name))
  if (!isAllowed) throw unauthorized(`a browser may send ${METHODS.join(', ')} with ${REQUEST_HEADERS.join(', ')}`)
}

function preflightHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const isPrivate = headers['access-control-request-private-network'] === 'true'
  return {
    'access-control-allow-methods': METHODS.join(', '),
    'access-control-allow-headers': REQUEST_HEADERS.join(', '),
    'access-control-max-age': PREFLIGHT_SECONDS,
    ...(isPrivate && { 'access-control-allow-private-network': 'true' }),
  }
}
