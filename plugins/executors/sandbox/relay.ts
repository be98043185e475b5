/** The only way out of a sandbox: a socket that forwards model calls to the evaluation routes, with a key that is valid only here. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, request as askHttp } from 'node:http'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { request as askHttps } from 'node:https'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ModelAddress } from '../../../src/contract/index.ts'

const CALL_BYTES_MAX = 16 * 1024 * 1024
const CALLS_MAX = 16
const CONNECTIONS_MAX = 64
const HEADER_BYTES_MAX = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
const BODY_TIMEOUT_MS = 60_000
const ROUTE = /^\/v1\/(?:chat\/completions|responses|messages|messages\/count_tokens)(?:\?[\w.~%=&+-]*)?$/
const FORWARDED = ['content-type', 'accept', 'anthropic-version', 'anthropic-beta'] as const
const RETURNED = ['content-type', 'content-encoding', 'retry-after'] as const

/** Closing it aborts running calls. */
export async function openRelay(path: string, model: ModelAddress, key: string): Promise<{ close(): Promise<void> }> {
  const over = new AbortController()
  let calls = 0
  const options = { maxHeaderSize: HEADER_BYTES_MAX, headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: BODY_TIMEOUT_MS }
  const server = createServer(options, (request, response) => {
    const problem = problemWith(request, key) ?? (calls < CALLS_MAX ? null : ([429, 'too many calls at once'] as const))
    if (problem !== null) return refuse(response, ...problem)
    calls += 1
    return void forward(request, response, model, over.signal).finally(() => (calls -= 1))
  })
  server.maxConnections = CONNECTIONS_MAX
  // The agent may be another user; the folder limits who reaches the socket.
  await new Promise<void>((resolve, reject) => server.on('error', reject).listen({ path, readableAll: true, writableAll: true }, resolve))
  return {
    async close() {
      over.abort()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function problemWith({ method, url = '', headers }: IncomingMessage, key: string): readonly [number, string] | null {
  if (!isSame(keyIn(headers), key)) return [401, 'unknown key']
  if (!ROUTE.test(url)) return [404, 'only the model can be reached here']
  if (method !== 'POST') return [405, 'the model takes POST only']
  return Number(headers['content-length'] ?? 0) > CALL_BYTES_MAX ? [413, 'the call is too large'] : null
}

function keyIn({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): string {
  return typeof apiKey === 'string' ? apiKey : authorization.replace(/^Bearer /i, '')
}

/** Compares digests, so that the time reveals neither length nor content. */
const isSame = (given: string, key: string): boolean => timingSafeEqual(digest(given), digest(key))
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ error: { message, type: 'episode', code: null } }))
}

/** Forwards only the named headers, and frames the request anew, so that no request can be smuggled. */
async function forward(request: IncomingMessage, response: ServerResponse, model: ModelAddress, over: AbortSignal): Promise<void> {
  const left = new AbortController()
  response.on('close', () => left.abort())
  try {
    const call = ask(request, model, AbortSignal.any([over, left.signal]))
    const answered = new Promise<IncomingMessage>((resolve, reject) => call.once('response', resolve).once('error', reject))
    // An error here ends the call, and so the answer.
    pipeline(request, bounded(), call).catch(() => undefined)
    const answer = await answered
    response.writeHead(answer.statusCode ?? 502, picked(answer.headers, RETURNED))
    await pipeline(answer, response)
  } catch {
    if (response.headersSent) response.destroy()
    else refuse(response, 502, 'the model did not answer')
  }
}

function ask({ url = '', headers }: IncomingMessage, { url: base, apiKey }: ModelAddress, signal: AbortSignal): ClientRequest {
  const target = new URL(base + url)
  const pass = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }
  const options = { method: 'POST', headers: { ...picked(headers, FORWARDED), ...pass }, agent: false, signal }
  return target.protocol === 'https:' ? askHttps(target, options) : askHttp(target, options)
}

function picked(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])))
}

function bounded(): Transform {
  let room = CALL_BYTES_MAX
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      room -= part.length
      if (room < 0) done(new Error('the call is too large'))
      else done(null, part)
    },
  })
}
