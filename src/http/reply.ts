/** What a handler answers with, and how it is sent. */
import type { ServerResponse } from 'node:http'
import { responseOutlet } from './response-stream.ts'

export interface HttpReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A body that takes its time is sent piece by piece. */
  readonly body: string | Uint8Array | AsyncIterable<string>
}

const JSON_TYPE = { 'content-type': 'application/json' }
const NO_STORE = { ...JSON_TYPE, 'cache-control': 'no-store' }

export function json(body: object, status = 200): HttpReply {
  return { status, headers: JSON_TYPE, body: JSON.stringify(body) }
}

/** For live reads, whose next page or repetition may differ. */
export function liveJson(body: object): HttpReply {
  return { status: 200, headers: NO_STORE, body: JSON.stringify(body) }
}

/** Statuses of an upstream that have no body, not even an empty one. */
const BODILESS = new Set([204, 205])

export async function sendReply(
  response: ServerResponse,
  common: Readonly<Record<string, string>>,
  { status, headers, body }: HttpReply,
): Promise<void> {
  const all = { ...common, ...headers }
  if (BODILESS.has(status)) response.writeHead(status, status === 205 ? { ...all, 'content-length': 0 } : all).end()
  else if (typeof body === 'string' || body instanceof Uint8Array) {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    response.writeHead(status, { ...all, 'content-length': length })
    endWith(response, body)
  } else await sendPieces(response.writeHead(status, all), body)
}

/** Beyond this, copying the body costs more than a second write. */
const ONE_WRITE_BYTES_MAX = 16 * 1024

/** Node joins headers and a string into one write; bytes would be a second one. Latin-1 maps every byte to itself. */
export function endWith(response: ServerResponse, ...pieces: readonly (string | Uint8Array)[]): void {
  for (const piece of pieces.slice(0, -1)) response.write(piece)
  const body = pieces.at(-1) ?? ''
  if (pieces.length > 1 || typeof body === 'string' || body.length > ONE_WRITE_BYTES_MAX) response.end(body)
  else response.end(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1'), 'latin1')
}

/** Waits for a slow client, and stops making pieces when the client leaves. */
async function sendPieces(response: ServerResponse, pieces: AsyncIterable<string>): Promise<void> {
  const outlet = responseOutlet(response)
  try {
    if (response.req.method !== 'HEAD') for await (const piece of pieces) await outlet.write(Buffer.from(piece))
    response.end()
  } catch (error) {
    if (!response.destroyed) throw error
  }
}
