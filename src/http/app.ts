/** The plain routes on Hono: a request that was let in goes to its handler, and the handler's value becomes the response. */
import { getRequestListener, RequestError, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { invalid } from '../contract/index.ts'
import type { Door, Visit } from './door.ts'
import { noRoute } from './errors.ts'
import { refusalReply } from './refusal.ts'
import { askedOf, type Handler, type Reply } from './reply.ts'
import { routes, type Route } from './routes.ts'

export type PlainRoutes = (visit: Visit, response: ServerResponse) => Promise<void>

export function makePlainRoutes(door: Door, noteError: (visit: Visit, error: unknown) => void): PlainRoutes {
  const visits = new WeakMap<IncomingMessage, Visit>()
  const app = new Hono<{ Bindings: HttpBindings }>({ strict: true })

  const visitOf = (incoming: IncomingMessage): Visit => {
    const visit = visits.get(incoming)
    if (visit === undefined) throw new Error('a request reached its handler without being let in')
    return visit
  }
  const handle =
    ({ path, bodyBytesMax }: Route, handler: Handler) =>
    async (context: { env: HttpBindings }) => {
      const visit = visitOf(context.env.incoming)
      // Hono reads the path its own way. Should it ever find another route than the one that was judged, there is none.
      if (visit.route !== path) throw noRoute()
      return responseOf(await handler(askedOf(door, visit, bodyBytesMax)), visit)
    }
  const refuse = (error: unknown, visit: Visit): Response => {
    noteError(visit, error)
    return responseOf(refusalReply(error, visit), visit)
  }

  for (const route of routes) if ('plain' in route.run) app.on(route.method, route.path, handle(route, route.run.plain))
  app.onError((error, context) => refuse(error, visitOf(context.env.incoming)))
  app.notFound((context) => refuse(noRoute(), visitOf(context.env.incoming)))

  const listener = getRequestListener((request, env) => app.fetch(request, env), {
    overrideGlobalObjects: false,
    errorHandler: refuseAddress,
  })
  return (visit, response) => {
    visits.set(visit.request, visit)
    return listener(visit.request, response)
  }
}

/** Hono makes a URL of host and path; what makes none would be answered without a word. Thrown, it is refused like anything else. */
function refuseAddress(error: unknown): never {
  if (error instanceof RequestError) throw invalid('bad_address', 'the host header and the path must make an address; send a plain host')
  throw error
}

/** Statuses an upstream may answer with that have no body, not even an empty one. */
const BODILESS = new Set([204, 205])

function responseOf({ status, headers, body }: Reply, visit: Visit): Response {
  return new Response(BODILESS.has(status) ? null : sendable(body), { status, headers: { ...visit.headers, ...headers } })
}

function sendable(body: Reply['body']): string | Uint8Array<ArrayBuffer> | ReadableStream {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new Uint8Array(body) : ReadableStream.from(body).pipeThrough(new TextEncoderStream())
}
