/** Every request enters here: origin, route, pass, handler, and one line in the log when its answer is over. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { HEADER } from '../contract/index.ts'
import { makePlainRoutes, type PlainRoutes } from './app.ts'
import { speakBoth } from './compat.ts'
import { answerOrigin } from './cors.ts'
import type { Door, Visit } from './door.ts'
import { HttpRefusal, isMessagesPath, noRoute } from './errors.ts'
import { noteError } from './note.ts'
import { knockOf } from './pass.ts'
import { refusalReply } from './refusal.ts'
import { routes, type Route } from './routes.ts'
import { RouteTable, type Lookup, type Match } from './table.ts'

const UNKNOWN_ROUTE = 'unknown'
/** On every answer: what it says it is, it is, and nobody keeps it. A handler whose answer may be kept says so itself. */
const GUARDED = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }
const UNKNOWN_PATH_CHARACTERS_MAX = 200

export function makeListener(door: Door): RequestListener {
  const table = new RouteTable(routes)
  const plain = makePlainRoutes(door, (visit, error) => noteError(door, visit, error))
  return (request, response) => {
    if (door.speaksReef) speakBoth(request, response)
    const arrival = arrive(door, request)
    const over = onceBoth(() => leave(door, arrival, response))
    response.once('close', over)
    receive(door, table, plain, arrival, response)
      .catch((error: unknown) => refuse(door, arrival, response, error))
      .finally(over)
  }
}

/** An answer is over when its connection is done with it and its handler too: what a broken stream left is kept after the client went. */
function onceBoth(leaveNow: () => void): () => void {
  let isOneDone = false
  return () => {
    if (isOneDone) leaveNow()
    isOneDone = true
  }
}

/** A request that has not been let in yet. */
interface Arrival {
  readonly id: string
  readonly request: IncomingMessage
  readonly path: string
  readonly query: string
  readonly note: Visit['note']
  readonly headers: Record<string, string>
  readonly started: number
  readonly trace: Visit['trace']
  readonly hold: Visit['hold']
  route: Route | null
}

function arrive(door: Door, request: IncomingMessage): Arrival {
  const id = door.newId()
  const url = request.url ?? '/'
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  const query = mark === -1 ? '' : url.slice(mark + 1)
  door.metrics.begin()
  const headers = { ...GUARDED, [HEADER.requestId]: id, ...(isMessagesPath(path) && { [HEADER.messagesRequestId]: id }) }
  return {
    id,
    request,
    path,
    query,
    note: {},
    headers,
    started: performance.now(),
    trace: door.traces?.request(request.headers),
    hold: door.bodies.budget.open(),
    route: null,
  }
}

async function receive(door: Door, table: RouteTable, plain: PlainRoutes, arrival: Arrival, response: ServerResponse): Promise<void> {
  const { request, path } = arrival
  const method = request.method ?? 'GET'
  const cors = answerOrigin(door, method, request.headers)
  Object.assign(arrival.headers, cors.headers)
  if (cors.isPreflight) {
    response.writeHead(204, arrival.headers).end()
    return
  }
  const lookup = table.find(method === 'HEAD' ? 'GET' : method, path)
  arrival.route = lookup.kind === 'found' ? lookup.match.route : null
  const visitor = door.keys.admit(arrival.route?.gate ?? null, knockOf(arrival.query, request.headers))
  const { route, params } = matched(lookup, table.cureFor.bind(table, path))
  const visit: Visit = { ...arrival, route: route.path, params, visitor }
  if ('line' in route.run) await route.run.line(door, visit, response, route.bodyBytesMax)
  else await plain(visit, response)
}

function matched(lookup: Lookup, cure: () => string | null): Match {
  if (lookup.kind === 'found') return lookup.match
  if (lookup.kind === 'none') throw noRoute(cure() ?? undefined)
  throw new HttpRefusal(405, 'method_not_allowed', `this route answers to ${lookup.allow}`, { allow: lookup.allow })
}

function refuse(door: Door, arrival: Arrival, response: ServerResponse, error: unknown): void {
  noteError(door, arrival, error)
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { status, headers, body } = refusalReply(error, arrival)
  const bytes = Buffer.from(body)
  const all = { ...arrival.headers, ...headers, 'content-length': bytes.length }
  response.writeHead(status, all).end(bytes)
}

function leave(door: Door, arrival: Arrival, response: ServerResponse): void {
  const seconds = (performance.now() - arrival.started) / 1000
  const route = arrival.route?.path ?? UNKNOWN_ROUTE
  const status = response.headersSent ? response.statusCode : 499
  const { id, path, note, trace } = arrival
  const method = arrival.request.method ?? ''
  arrival.hold.close()
  door.metrics.end(route, status, seconds)
  const level = status >= 500 ? 'warn' : 'info'
  const milliseconds = Math.round(seconds * 1e6) / 1000
  const asked = arrival.route === null ? { path: shownPath(path) } : {}
  door.log.write(level, 'request', { id, method, route, ...asked, status, ms: milliseconds, ...note })
  trace?.end({ id, method, route: arrival.route?.path ?? null, path, status: response.headersSent ? status : null, note })
}

/** A path that nobody knows, as the log may hold it: short, without a host's credentials, and without a query, however it was written. */
function shownPath(path: string): string {
  const [plain = ''] = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '').split(/[?#;]|%3f|%23|%3b/i, 1)
  return plain.length > UNKNOWN_PATH_CHARACTERS_MAX ? `${plain.slice(0, UNKNOWN_PATH_CHARACTERS_MAX)}…` : plain
}
