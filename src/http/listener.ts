/** Every request enters here: origin, route, credentials, handler, and one log line when its answer is over. */
import type { RequestListener } from 'node:http'
import { HEADER, invalid, isRefusal, type EpisodeLease } from '../contract/index.ts'
import { peerOf } from './handlers/audit.ts'
import { clientKeyIn } from './credentials/client-key.ts'
import { credentialsOf, type Credentials } from './credentials/auth.ts'
import { authorize } from './credentials/authorize.ts'
import { speakBoth } from './compat.ts'
import { HttpContext, type HttpRoute } from './context.ts'
import { answerOrigin } from './credentials/cors.ts'
import { HttpRefusal, noRoute } from './errors.ts'
import { logError } from './log/log-fields.ts'
import { refuseOtherSite } from './credentials/other-site.ts'
import { refusalReply } from './refusal.ts'
import { sendReply } from './reply.ts'
import { headerText } from './request-fields.ts'
import { Router, type Lookup, type RouteMatch } from './router.ts'
import { routes } from './routes.ts'
import type { HttpServices, TrafficServices } from './services.ts'

const UNKNOWN_ROUTE = 'unknown'
const UNKNOWN_PATH_CHARACTERS_MAX = 200

export function makeListener(services: HttpServices): RequestListener {
  const router = new Router(routes)
  return (request, response) => {
    if (services.speaksReef) speakBoth(request, response)
    answer(new HttpContext(services, request, response), (context) => handle(router, context))
  }
}

/** Runs a request to its end, with a refusal where it fails, a log line and its numbers. */
export function answer<S extends TrafficServices>(context: HttpContext<S>, handleIt: (context: HttpContext<S>) => Promise<void>): void {
  context.services.metrics.begin()
  const over = onSecondCall(() => finish(context))
  // The client may have left while it was asked who answers it.
  if (context.response.closed) over()
  else context.response.once('close', over)
  handleIt(context)
    .catch((error: unknown) => refuse(context, error))
    .finally(over)
}

/** An answer is over when both its connection and its handler are done: a broken stream is recorded after its client left. */
function onSecondCall(run: () => void): () => void {
  let isCalled = false
  return () => {
    if (isCalled) run()
    isCalled = true
  }
}

async function handle(router: Router, context: HttpContext): Promise<void> {
  const { request, response, path } = context
  const method = request.method ?? 'GET'
  if (checkOrigin(context)) {
    await logPath(context)
    response.writeHead(204, context.headers).end()
    return
  }
  const lookup = router.find(method === 'HEAD' ? 'GET' : method, path)
  if (lookup.kind === 'found') context.params = lookup.match.params
  const slowed = admit(context, lookup.kind === 'found' ? lookup.match.route : null)
  if (slowed !== null) await slowed
  const { route } = matched(lookup, () => router.cureFor(path))
  if ('traffic' in route.run) return route.run.traffic(context)
  if ('line' in route.run) return route.run.line(context)
  refuseBadHost(request.headers.host ?? '', path)
  await sendReply(response, context.headers, await route.run.plain(context))
}

/** Answers whether the request is a preflight, which reaches no route. */
export function checkOrigin({ services, request, headers }: HttpContext<TrafficServices>): boolean {
  const cors = answerOrigin(services, request.method ?? 'GET', request.headers)
  Object.assign(headers, cors.headers)
  return cors.isPreflight
}

/** An unknown route (null) is as closed as any other. A promise for the key of a lease, and where many wrong tokens or page keys came from the same address. */
export function admit(context: HttpContext<TrafficServices>, route: HttpRoute | null): Promise<void> | null {
  context.route = route
  const { auth, wrongTokens } = context.services
  const { headers } = context.request
  const credentials = credentialsOf(context.rawQuery, headers, clientKeyIn(headers, context.services))
  const finding = auth.findLease(route, credentials)
  if (finding !== null) return finding.then((lease) => judge(context, route, credentials, lease))
  const isFree = wrongTokens.isQuiet || route?.access === 'open' || !auth.areStrange(credentials)
  const slowed = isFree ? null : wrongTokens.slowed(peerOf(context.request) ?? '')
  if (slowed !== null) return slowed.then(() => judge(context, route, credentials))
  judge(context, route, credentials)
  return null
}

function judge(
  context: HttpContext<TrafficServices>,
  route: HttpRoute | null,
  credentials: Credentials,
  lease: EpisodeLease | null = null,
): void {
  const { auth, wrongTokens } = context.services
  context.principal = auth.admit(route, credentials, () => wrongTokens.note(peerOf(context.request) ?? ''), lease)
  refuseBorrowedCookie(context)
  if (context.principal.kind === 'service' && context.principal.isStored) context.logFields.by = context.principal.name
  if (route !== null) authorize(context, route)
}

function refuseBorrowedCookie({ principal, services: { signIn }, request }: HttpContext<TrafficServices>): void {
  if (principal.kind === 'service' && principal.signIn !== null && signIn !== null)
    refuseOtherSite(request.method ?? 'GET', request.headers, signIn.origin)
}

function matched(lookup: Lookup, cure: () => string | null): RouteMatch {
  if (lookup.kind === 'found') return lookup.match
  if (lookup.kind === 'none') throw noRoute(cure() ?? undefined)
  throw new HttpRefusal(405, 'method_not_allowed', `this route answers to ${lookup.allow}`, { allow: lookup.allow })
}

const PLAIN_HOST = /^[a-z0-9._-]+(?::(?:\d{1,4}|[1-5]\d{4}))?$/

/** Host and path must make an address, since links and scripts are made of it. */
function refuseBadHost(host: string, path: string): void {
  const isPlain = PLAIN_HOST.test(host) || isHost(host)
  if (!isPlain || path.includes('\\')) throw invalid('bad_address', 'the host header and the path must make an address; send a plain host')
}

function isHost(host: string): boolean {
  if (host === '' || !URL.canParse(`http://${host}`)) return false
  return new URL(`http://${host}`).hostname === host.replace(/:\d+$/, '').toLowerCase()
}

async function refuse(context: HttpContext<TrafficServices>, error: unknown): Promise<void> {
  const { response, headers: common } = context
  if (context.route === null) await logPath(context)
  await logError(context, error)
  if (isRefusal(error) && (error.kind === 'limited' || error.kind === 'unauthorized'))
    context.services.metrics.refused(error.kind, error.code)
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { status, headers, body } = await refusalReply(error, context)
  const bytes = Buffer.from(body)
  response.writeHead(status, { ...common, ...headers, 'content-length': bytes.length }).end(bytes)
}

function finish({ services, request, response, started, id, path, route, logFields, trace, hold }: HttpContext<TrafficServices>): void {
  const seconds = (performance.now() - started) / 1000
  const method = request.method ?? ''
  const status = response.headersSent ? response.statusCode : 499
  hold.close()
  services.metrics.end(route?.path ?? UNKNOWN_ROUTE, status, seconds)
  const level = status >= 500 ? 'warn' : 'info'
  const ms = Math.round(seconds * 1e6) / 1000
  services.log.write(level, 'request', { id, method, route: route?.path ?? UNKNOWN_ROUTE, status, ms, ...logFields })
  trace?.end({ id, method, route: route?.path ?? null, path, status: response.headersSent ? status : null, note: logFields })
}

/** Somebody's address may stand in an unknown path, so it is logged as far as calls of this scenario, or of this deployment, are recorded. */
async function logPath({ services: { recorder }, request, logFields, path }: HttpContext<TrafficServices>): Promise<void> {
  const mode = recorder.modeOf(headerText(request, HEADER.scenario) ?? '')
  const shown = await recorder.loggedWords(mode, shownPath(path))
  if (shown !== null) logFields.path = shown
}

/** An unknown path as the log may hold it: short, without a host's credentials and without a query, however it was encoded. */
function shownPath(path: string): string {
  const [plain = ''] = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '').split(/[?#;]|%3f|%23|%3b/i, 1)
  return plain.length > UNKNOWN_PATH_CHARACTERS_MAX ? `${plain.slice(0, UNKNOWN_PATH_CHARACTERS_MAX)}…` : plain
}
