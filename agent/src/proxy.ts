/** The proxy between a running agent and the service. It listens on this machine alone and has a key of its own, so the agent never holds the token. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { Agent as HttpAgent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { Transform, pipeline } from 'node:stream'
import { RELEASE_TAG_HEADER, SCENARIO_HEADER, SESSION_TAG_HEADER } from '@svc-ai/client/shared'
import { isReceipted, receiptInHeaders, ReceiptReader } from './receipts.ts'

export interface ProxyTarget {
  /** Where the service answers, without a trailing slash. */
  readonly url: string
  readonly token: string | null
  readonly scenario: string
  readonly session: string
  readonly release: string
}

export interface Proxy {
  readonly url: string
  /** Breaks off what is still under way. */
  close(): Promise<void>
}

/** Kept connections are let go before common servers would close them under the next request. */
const IDLE_SECONDS = 4
/** How long an agent may rest between two calls before its connection is closed. */
const CLIENT_IDLE_SECONDS = 600
/** As much as the service takes. */
const HEADER_BYTES_MAX = 64 * 1024
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade']
const CREDENTIALS = ['authorization', 'x-api-key', 'proxy-authorization', 'cookie']
/** Headers of the agent that the proxy sets or drops. */
const REPLACED = ['host', 'expect', ...CREDENTIALS, SCENARIO_HEADER, SESSION_TAG_HEADER, RELEASE_TAG_HEADER]

/** `keep` gets each receipt before the bytes that carry it are passed on. */
export async function startProxy(upstream: ProxyTarget, key: string, keep: (receipt: string) => void): Promise<Proxy> {
  const options = { keepAlive: true, timeout: IDLE_SECONDS * 1000 }
  const agent = upstream.url.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options)
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const refusal = refusalOf(request, key)
    if (refusal === null) return forward({ upstream, agent, keep }, request, response)
    refuse(request, response, refusal)
  }
  // An agent may think, send and wait for as long as it likes.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: CLIENT_IDLE_SECONDS * 1000, maxHeaderSize: HEADER_BYTES_MAX }, answer)
  // Without a listener Node would answer "continue" before the key is checked.
  server.on('checkContinue', answer)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a listening socket has a port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
        agent.destroy()
      }),
  }
}

type Refusal = readonly [status: number, type: string, code: string, message: string]

/** Null for what may pass. */
function refusalOf(request: IncomingMessage, key: string): Refusal | null {
  if (!isLoopback(request.headers.host))
    return [403, 'permission_error', 'not_loopback', 'this address is for programs of this machine alone']
  if (!holdsKey(request, key)) return [401, 'authentication_error', 'unauthorized', "send the session's key as a bearer token or x-api-key"]
  if (request.headers.upgrade?.toLowerCase() === 'websocket')
    return [426, 'invalid_request_error', 'upgrade_required', 'this service answers over HTTP; POST to this route']
  if (isForwarded(request.method ?? '', pathOf(request))) return null
  return [404, 'not_found_error', 'unknown_route', 'a session reaches the inference and harness routes alone']
}

/** A page of another site may have its name resolved to this machine; its requests still carry that name. */
function isLoopback(host: string | undefined): boolean {
  const address = `http://${host ?? ''}`
  return URL.canParse(address) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(address).hostname)
}

function holdsKey({ headers }: IncomingMessage, key: string): boolean {
  const bearer = /^bearer +(.*)$/i.exec(headers.authorization ?? '')?.[1]
  const presented = bearer ?? headers['x-api-key']
  return typeof presented === 'string' && timingSafeEqual(digest(presented.trim()), digest(key))
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** A path that the service could read as another one is not passed on. */
function isForwarded(method: string, path: string): boolean {
  const address = `http://localhost${path}`
  if (!path.startsWith('/') || !URL.canParse(address) || new URL(address).pathname !== path) return false
  if (path.startsWith('/v1/')) return true
  // Step records hold tasks that no agent may see.
  if (method === 'GET')
    return path === '/svc/status' || path === '/svc/harness' || (path.startsWith('/svc/harness/') && !path.endsWith('/records'))
  return method === 'POST' && (path === '/svc/train' || path === '/svc/report')
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? ''

interface Way {
  readonly upstream: ProxyTarget
  readonly agent: HttpAgent
  readonly keep: (receipt: string) => void
}

function forward({ upstream, agent, keep }: Way, request: IncomingMessage, response: ServerResponse): void {
  const isKept = isReceipted(request.method ?? '', pathOf(request))
  const send = upstream.url.startsWith('https:') ? httpsRequest : httpRequest
  const headers = requestHeaders(request, upstream, isKept)
  const outgoing = send(`${upstream.url}${request.url ?? ''}`, { method: request.method, agent, headers })
  const fail = (error: unknown): void => {
    if (response.headersSent) response.destroy()
    else refuse(request, response, unreachable(upstream.url, error))
  }
  outgoing.on('response', (answer) => {
    try {
      passOn(answer, response, isKept ? keep : null)
    } catch (error) {
      // A head that Node reads and would not write: one such answer must not end the session, nor its words stay for the refusal.
      answer.destroy()
      response.statusMessage = ''
      fail(error)
    }
  })
  outgoing.on('error', fail)
  // Also before there is an answer: the caller is gone, and an answer would cost money for nothing.
  response.on('close', () => void (response.writableFinished || outgoing.destroy()))
  if (request.headers.expect !== undefined) response.writeContinue()
  request.pipe(outgoing)
}

function requestHeaders(request: IncomingMessage, upstream: ProxyTarget, isKept: boolean): Record<string, string | string[]> {
  const { token, scenario, session, release } = upstream
  return {
    ...passing(request, REPLACED),
    // Lengths pass as they are; a body without one is cut into chunks again, whatever the method.
    ...(request.headers['transfer-encoding'] !== undefined && { 'transfer-encoding': 'chunked' }),
    // A receipt can only be found in what is not compressed.
    ...(isKept && { 'accept-encoding': 'identity' }),
    ...(token !== null && { authorization: `Bearer ${token}` }),
    [SCENARIO_HEADER]: Buffer.from(scenario).toString('latin1'),
    [SESSION_TAG_HEADER]: session,
    [RELEASE_TAG_HEADER]: release,
  }
}

/** The headers that are about the message rather than about one connection. */
function passing(message: IncomingMessage, without: readonly string[]): Record<string, string[]> {
  const named = (message.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const dropped = new Set([...HOP_BY_HOP, ...without, ...named])
  const kept = Object.entries(message.headersDistinct).flatMap(([name, values]) =>
    values === undefined || dropped.has(name) ? [] : [[name, values] as const],
  )
  return Object.fromEntries(kept)
}

function passOn(answer: IncomingMessage, response: ServerResponse, keep: ((receipt: string) => void) | null): void {
  const receipt = receiptInHeaders(answer.headers)
  if (keep !== null && receipt !== null) keep(receipt)
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passing(answer, []))
  // Sends them now; flushHeaders() would write their bytes as UTF-8, and so twice.
  response.write('', 'latin1')
  const isStream = answer.headers['content-type']?.startsWith('text/event-stream') === true
  // What breaks off upstream breaks off here, and the other way round.
  if (keep === null || !isStream) pipeline(answer, response, () => undefined)
  else pipeline(answer, receiptsTo(keep), response, () => undefined)
}

function receiptsTo(keep: (receipt: string) => void): Transform {
  const reader = new ReceiptReader()
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (const receipt of reader.take(chunk)) keep(receipt)
      done(null, chunk)
    },
  })
}

function unreachable(url: string, error: unknown): Refusal {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return [502, 'api_error', 'service_unreachable', `the service at ${url} cannot be reached (${reason}): is it running?`]
}

/** In the shape that the SDK of the route parses. The body of a refused request is read away, so that the connection can be used again. */
function refuse(request: IncomingMessage, response: ServerResponse, [status, type, code, message]: Refusal): void {
  if (response.destroyed) return
  const isMessages = /^\/v1\/messages(?:\/|$)/.test(pathOf(request))
  const body = JSON.stringify(isMessages ? { type: 'error', error: { type, message } } : { error: { message, type, code } })
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  request.resume()
}
