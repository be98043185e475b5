/** One request: what its handler reads of it, and what every answer and the log line say of it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { HEADER, type JsonObject, type RecordingMode } from '../contract/index.ts'
import { dialectOfPath } from '../dialects/index.ts'
import type { BytePieces } from '../kit/index.ts'
import type { Principal, RouteNeeds } from './credentials/auth.ts'
import { readBody, type BodyHold } from './bodies/index.ts'
import type { RouteSpec } from './openapi/spec.ts'
import type { HttpReply } from './reply.ts'
import type { HttpServices, LogFields, HttpTrace, TrafficServices } from './services.ts'

/**
 * Where a request says which scenario it is about, for tokens that are bound to some. 'deployment': it is about all of them, or about none,
 * and such a token is refused. 'any': it is about none that a token could be bound to, or answers only for those of the token.
 */
export type Scope = 'path' | 'header' | 'page' | 'deployment' | 'any'

export interface HttpRoute extends RouteNeeds {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly scope: Scope
  readonly bodyBytesMax: number
  /** Inference and evaluation routes write to the socket themselves; every other route answers with a value. */
  readonly run: { readonly traffic: TrafficHandler } | { readonly line: LineHandler } | { readonly plain: Handler }
  /** For the OpenAPI document; null when the route is no part of it. */
  readonly spec: RouteSpec | null
}
export type Handler = (context: HttpContext) => Promise<HttpReply> | HttpReply
export type LineHandler = (context: HttpContext) => Promise<void>
/** Needs no more of the services than a listener thread has. */
export type TrafficHandler = (context: HttpContext<TrafficServices>) => Promise<void>

const ANYONE: Principal = { kind: 'anyone' }

export class HttpContext<S extends TrafficServices = HttpServices> {
  readonly services: S
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The request's id, on every answer and in the log. The receipt is another id, since it may not be sent before the record is durable. */
  readonly id: string
  readonly path: string
  readonly rawQuery: string
  /** Headers of every answer to this request, refusals included. A handler may add to them, or override them where its answer may be cached. */
  readonly headers: Record<string, string>
  readonly logFields: LogFields = {}
  readonly trace: HttpTrace | undefined
  /** The share of the memory for request bodies that this request holds. */
  readonly hold: BodyHold
  readonly started = performance.now()
  route: HttpRoute | null = null
  params: Readonly<Record<string, string>> = {}
  principal: Principal = ANYONE
  /** The part of the exchange that is recorded, once that is known: the log and the trace hold no more. */
  recording: RecordingMode = 'full'

  constructor(services: S, request: IncomingMessage, response: ServerResponse) {
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    this.services = services
    this.request = request
    this.response = response
    this.id = services.newId()
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.rawQuery = mark === -1 ? '' : url.slice(mark + 1)
    this.headers = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store', [HEADER.requestId]: this.id }
    const { requestIdHeader } = dialectOfPath(this.path)
    if (requestIdHeader !== HEADER.requestId) this.headers[requestIdHeader] = this.id
    this.trace = services.traces?.request(request.headers)
    this.hold = services.bodies.budget.open()
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.rawQuery)
  }

  readBytes(): Promise<BytePieces> {
    return readBody(this.request, this.route?.bodyBytesMax ?? 0, this.hold)
  }

  async readObject(): Promise<JsonObject> {
    return this.services.bodies.object(await this.readBytes())
  }
}
