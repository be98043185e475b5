/** What a handler answers with, and what it is called with. */
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../contract/index.ts'
import { readBody } from './bodies/index.ts'
import type { Door, Visit } from './door.ts'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** What takes its time is sent piece by piece. */
  readonly body: string | Uint8Array | AsyncIterable<string>
}

/** A request at a plain route. */
export interface Asked {
  readonly door: Door
  readonly visit: Visit
  readonly query: URLSearchParams
  /** The body, read up to the route's limit. */
  readonly bytes: () => Promise<Buffer>
  /** The body as a strict JSON object. */
  readonly object: () => Promise<JsonObject>
}

export type Handler = (asked: Asked) => Promise<Reply> | Reply

/** A request at a route of the request line: it writes to the socket itself. */
export type LineHandler = (door: Door, visit: Visit, response: ServerResponse, bodyBytesMax: number) => Promise<void>

export function askedOf(door: Door, visit: Visit, bodyBytesMax: number): Asked {
  const bytes = (): Promise<Buffer> => readBody(visit.request, bodyBytesMax, visit.hold)
  return { door, visit, query: new URLSearchParams(visit.query), bytes, object: async () => door.bodies.object(await bytes()) }
}

const JSON_TYPE = { 'content-type': 'application/json' }
const NO_STORE = { ...JSON_TYPE, 'cache-control': 'no-store' }

export function json(body: object, status = 200): Reply {
  return { status, headers: JSON_TYPE, body: JSON.stringify(body) }
}

/** For live reads, whose next page or repetition may differ. */
export function liveJson(body: object | string): Reply {
  return { status: 200, headers: NO_STORE, body: typeof body === 'string' ? body : JSON.stringify(body) }
}
