/** What a listener thread does with a request: inference of scenarios it knows it answers itself, everything else it relays. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { HEADER, INLINE_LINE_BYTES_MAX, RELEASE_TAG } from '../contract/index.ts'
import { readTheirs, writeBoth } from './compat.ts'
import { HttpContext, type HttpRoute } from './context.ts'
import { admit, answer, checkOrigin } from './listener.ts'
import { decodeHeader, headerText, scenarioOf } from './request-fields.ts'
import { Router, type RouteMatch } from './router.ts'
import { inferenceRoutes } from './routes/inference.ts'
import type { TrafficServices } from './services.ts'

export interface KnownScenarios {
  /** Whether this thread can answer that request itself. The main thread is asked where the scenario is not known yet. */
  serves(wanted: WantedScenario): boolean | Promise<boolean>
}
export interface WantedScenario {
  readonly name: string
  /** The starting release that the request names. */
  readonly start: string | null
  /** The release that the client says it holds. */
  readonly held: string | null
}

/** Resolves once the answer has begun; rejects when there is none. */
type Relay = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export function makeTrafficListener(services: TrafficServices, known: KnownScenarios, relay: Relay): RequestListener {
  const router = new Router(inferenceRoutes.filter(({ run }) => 'traffic' in run))
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    services.metrics.relayed()
    relay(request, response).catch((error: unknown) => answer(new HttpContext(services, request, response), () => Promise.reject(error)))
  }
  const serve = (request: IncomingMessage, response: ServerResponse, { route, params }: RouteMatch): void => {
    if (services.speaksReef) writeBoth(response)
    answer(new HttpContext(services, request, response), async (context) => {
      context.params = params
      await handle(context, route)
    })
  }
  return (request, response) => {
    if (services.speaksReef) readTheirs(request)
    const [path = ''] = (request.url ?? '/').split('?', 1)
    const lookup = router.find(request.method ?? 'GET', path)
    const wanted = lookup.kind === 'found' && isShort(request) ? wantedIn(request) : null
    if (lookup.kind !== 'found' || wanted === null) return pass(request, response)
    const go = (isServed: boolean): void => (isServed ? serve(request, response, lookup.match) : pass(request, response))
    const served = known.serves(wanted)
    if (typeof served === 'boolean') go(served)
    else void served.then(go)
  }
}

async function handle(context: HttpContext<TrafficServices>, route: HttpRoute): Promise<void> {
  checkOrigin(context)
  const slowed = admit(context, route)
  if (slowed !== null) await slowed
  if ('traffic' in route.run) await route.run.traffic(context)
}

/** Null where only the main thread can tell: without a readable name, and with a receipt that the client chose. */
function wantedIn(request: IncomingMessage): WantedScenario | null {
  try {
    const name = scenarioOf(request)
    const tag = request.headers[`${HEADER.tagPrefix}${RELEASE_TAG}`]
    const held = typeof tag === 'string' ? decodeHeader(tag.trim()) : null
    if (request.headers[HEADER.receipt] !== undefined) return null
    return { name, start: headerText(request, HEADER.release), held: held === '' ? null : held }
  } catch {
    return null
  }
}

/** Longer bodies are checked in threads, which the main thread has. */
function isShort({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return length !== undefined && headers['transfer-encoding'] === undefined && Number(length) <= INLINE_LINE_BYTES_MAX
}
