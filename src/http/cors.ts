/** Browser consoles: listed origins are let in before any route runs, every other origin is turned away there. */
import type { IncomingHttpHeaders } from 'node:http'
import { HEADER, unauthorized } from '../contract/index.ts'
import type { HttpServices } from './services.ts'

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

/** A service is open when no token stands between a caller and it. */
export function answerOrigin(
  { origins, hosts, auth, servedOrigin }: Pick<HttpServices, 'origins' | 'hosts' | 'auth' | 'servedOrigin'>,
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
    // With a token, a browser's word for it is enough: a proxy may have changed the host.
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
 * Whether a request comes from no page at all or from a page of this very service: opened under the host that was asked, under the one that a
 * proxy says was asked, or under the address that the operator said is ours. Another port of this machine is another server, and so is another
 * spelling of its address.
 */
function isOwnPage(servedOrigin: string | null, headers: IncomingHttpHeaders): boolean {
  const { origin, 'sec-fetch-site': site = 'none' } = headers
  if (site !== 'none' && site !== 'same-origin') return false
  if (origin === undefined) return true
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) return false
  const { host } = new URL(origin)
  return origin === servedOrigin || [headers.host, headers['x-forwarded-host']].some((named) => firstHost(named) === host)
}

/** Proxies append to the list; the first one is what the person typed. */
const firstHost = (header: string | readonly string[] | undefined): string =>
  String(header ?? '')
    .split(',', 1)[0]
    ?.trim()
    .toLowerCase() ?? ''

/**
 * A stranger's site can give its own name our address. To a browser its page is then ours, and over plain HTTP nothing in its requests says
 * otherwise but the name it was opened under.
 */
function refuseBorrowedName(hosts: ReadonlySet<string>, host: string): void {
  if (!isOwnedName(host) || hosts.has(host.toLowerCase())) return
  throw unauthorized('without a token the service answers under no host name that somebody could own; set svc.token, or list its origin')
}

/** Whether anybody could have bought it: a name with a dot, but for addresses and for what is set aside for machines of one's own. */
function isOwnedName(host: string): boolean {
  const name = host.replace(/:\d*$/, '').replace(/\.$/, '')
  return /^[^\s/@:[\]]+\.[^\s/@:[\]]+$/.test(name) && !/\.(?:localhost|internal|\d+)$/i.test(name)
}

/** A page of another origin cannot read our answers, but on an open service it could act. */
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
