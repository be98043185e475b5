/** Passes a request on to the main thread as it came, and its answer back: over pooled connections to a socket of this process. */
import { Agent, request as openRequest, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { RELAYED_FROM_HEADER, unavailable } from '../contract/index.ts'

/** A full queue of the socket is tried again for this long. */
const TRIES = 40
const TRY_AGAIN_MS = 25
const IDLE_CONNECTIONS_MAX = 256
/** Sooner than the main thread would, so that no request meets a connection that is being closed. */
const IDLE_MS_MAX = 30_000

export class Relay {
  readonly #path: string
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS_MAX, timeout: IDLE_MS_MAX })

  constructor(path: string) {
    this.#path = path
  }

  /** Resolves once the answer has begun or the client has left; rejects when there is none. */
  async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      if (response.destroyed) return
      const outgoing = this.#open(request)
      try {
        await connected(outgoing)
      } catch (cause) {
        // None of it was sent, so it may be sent again.
        if (tries === TRIES) throw unavailable('relay_failed', 'the service is too busy to take the request; send it again', { cause })
        await sleep(TRY_AGAIN_MS)
        continue
      }
      await exchange(request, response, outgoing)
      return
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #open(request: IncomingMessage): ClientRequest {
    const headers = forwarded(request.rawHeaders, NOT_PASSED_ON)
    headers.push(RELAYED_FROM_HEADER, request.socket.remoteAddress ?? '')
    if (request.headers['transfer-encoding'] !== undefined) headers.push('transfer-encoding', 'chunked')
    const method = request.method ?? 'GET'
    return openRequest({ agent: this.#agent, socketPath: this.#path, method, path: request.url ?? '/', headers, setHost: false })
  }
}

/** Of one connection alone. `expect` was answered when the request came. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'expect'])
/** Where a request came from is said here, and believed of nobody else. */
const NOT_PASSED_ON = new Set([...HOP_BY_HOP, RELAYED_FROM_HEADER])

/** Names and values as they came, in their order. */
function forwarded(raw: readonly string[], without: ReadonlySet<string>): string[] {
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? ''
    if (!without.has(name.toLowerCase())) kept.push(name, raw[at + 1] ?? '')
  }
  return kept
}

function connected(outgoing: ClientRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    outgoing.once('error', reject)
    outgoing.once('socket', (socket) => {
      if (!socket.connecting) return resolve()
      socket.once('connect', resolve)
    })
  })
}

function exchange(request: IncomingMessage, response: ServerResponse, outgoing: ClientRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', (cause) => {
      if (response.headersSent || response.destroyed) response.destroy()
      else
        reject(
          unavailable('relay_failed', 'the service did not finish this request; look whether it took effect, then send it again', {
            cause,
          }),
        )
    })
    outgoing.once('response', (incoming) => {
      passBack(incoming, response)
      resolve()
    })
    response.once('close', () => {
      if (!response.writableFinished) outgoing.destroy()
      resolve()
    })
    request.once('error', () => outgoing.destroy())
    request.pipe(outgoing)
  })
}

function passBack(incoming: IncomingMessage, response: ServerResponse): void {
  const headers = forwarded(incoming.rawHeaders, HOP_BY_HOP)
  if (incoming.headers.connection === 'close') headers.push('connection', 'close')
  response.sendDate = false
  response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage ?? '', headers)
  // An answer that streams sends its headers before its first event. flushHeaders() would write their bytes as UTF-8, and so twice.
  response.write('', 'latin1')
  incoming.on('error', () => response.destroy())
  incoming.pipe(response, { end: false })
  incoming.once('end', () => {
    if (incoming.rawTrailers.length > 0) response.addTrailers(pairsOf(incoming.rawTrailers))
    response.end()
  })
}

const pairsOf = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] ?? '', raw[2 * at + 1] ?? ''])
