/** Browser origins: listed ones are allowed before any route runs, every other one is refused. */
import type { IncomingHttpHeaders } from 'node:http'
import { HEADER, unauthorized } from '../../contract/index.ts'
import type { TrafficServices } from '../services.ts'

const METHODS = ['GET', 'POST', 'DELETE']
const REQUEST_HEADERS = ['authorization', 'content-type', HEADER.scenario]
const EXPOSED = [HEADER.receipt, HEADER.release, HEADER.artifactVersion].join(', ')
const PREFLIGHT_SECONDS = '600'

export interface CorsAnswer {
  readonly headers: Readonly<Record<string, string>>
  /** A preflight reaches no route. */
  readonly isPreflight: boolean
}

const NOTHING: CorsAnswer = { headers: {}, isPreflight: false }
const VARY: CorsAnswer = { headers: { vary: 'Origin' }, isPreflight: false }

/** A service is open when no token stands between a caller and it. */
export function answerOrigin(
  { origins, hosts, auth, servedOrigin }: Pick<TrafficServices, 'origins' | 'hosts' | 'auth' | 'servedOrigin'>,
  method: string,
  headers: IncomingHttpHeaders,
): CorsAnswer {
  const { origin } = headers
  const isOpen = !auth.isRequired
  const isOwn = isOwnPage(servedOrigin, headers)
  const isListed = origin !== undefined && origins.has(origin)
  if (isOpen) {
    refuseBorrowedName(hosts, headers.host ?? '')
    if (!isOwn && !isListed) refuseForeignPage(method)
  }
  if (origins.size === 0) return NOTHING
  if (origin === undefined) return VARY
  if (!isListed) {
    // With a token the browser's own header is enough, since a proxy may have changed the host.
    if (isOwn || (!isOpen && headers['sec-fetch-site'] === 'same-origin')) return VARY
    throw unauthorized('this origin is not one of svc.console_origins')
  }
  const allowed = { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED }
  const asked = headers['access-control-request-method']
  if (method !== 'OPTIONS' || asked === undefined) return { headers: allowed, isPreflight: false }
  refuseBadPreflight(asked, headers['access-control-request-headers'] ?? '')
  return { headers: { ...allowed, ...preflightHeaders(headers) }, isPreflight: true }
}

/**
 * Whether a request comes from no page, or from a page of this service: opened under the request's host, under the host that a proxy
 * forwards, or under the configured address. Another port, or another spelling of the address, is another server.
 */
function isOwnPage(servedOrigin: string | null, headers: IncomingHttpHeaders): boolean {
  const { origin, 'sec-fetch-site': site = 'none' } = headers
  if (site !== 'none' && site !== 'same-origin') return false
  if (origin === undefined) return true
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) return false
  const { host } = new URL(origin)
  return origin === servedOrigin || [headers.host, headers['x-forwarded-host']].some((named) => firstHost(named) === host)
}

/** Proxies append to the list; the first entry is the original one. */
const firstHost = (header: string | readonly string[] | undefined): string =>
  String(header ?? '')
    .split(',', 1)[0]
    ?.trim()
    .toLowerCase() ?? ''

/**
 * Guards against DNS rebinding: a stranger's name can point to our address, and over plain HTTP only the host header shows it.
 */
function refuseBorrowedName(hosts: ReadonlySet<string>, host: string): void {
  if (!isOwnedName(host) || hosts.has(host.toLowerCase())) return
  throw unauthorized('without a token the service answers under no host name that somebody could own; set svc.token, or list its origin')
}

/** Whether the name could be registered by a stranger: it has a dot, and is neither an address nor reserved for private use. */
function isOwnedName(host: string): boolean {
  const name = host.replace(/:\d*$/, '').replace(/\.$/, '')
  return /^[^\s/@:[\]]+\.[^\s/@:[\]]+$/.test(name) && !/\.(?:localhost|internal|\d+)$/i.test(name)
}

/** A page of another origin cannot read answers, but on an open service it could change something. */
function refuseForeignPage(method: string): void {
  if (method === 'GET' || method === 'HEAD') return
  throw unauthorized(
    'a web page of another origin may not act on a service without a token; set svc.token, list its origin in svc.console_origins, or open the page under the address of the service',
  )
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
