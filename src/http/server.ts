/** The listening socket. Closing it lets answers in flight finish. */
import { createServer, STATUS_CODES, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createSecureServer, Server as SecureServer } from 'node:https'
import { createServer as createDoor, Server as Door, Socket, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureVersion } from 'node:tls'
import {
  BODY_TIMEOUT_SECONDS,
  CLIENT_STALL_SECONDS,
  HEADER,
  HEADER_BYTES_MAX,
  HEADERS_TIMEOUT_SECONDS,
  RELAYED_FROM_HEADER,
  SHUTDOWN_GRACE_SECONDS,
} from '../contract/index.ts'
import { newId } from '../kit/index.ts'
import { answerError, HttpRefusal } from './errors.ts'
import { OpenAnswers } from './open-answers.ts'

/** Longer than usual clients keep a pooled connection, so that the client closes it first. */
const KEEP_ALIVE_MS = 75_000
const SLOW_CLIENT_CHECK_MS = 5000
/** When to close the connection of a client that sent no request, or too slowly, and does not hang up. */
const HANG_UP_AFTER_MS = 1000
/** Connections that the system queues while a burst is accepted. */
const BACKLOG = 4096
/** A turn of the event loop accepts one connection of a socket. Where a port may be shared, this many sockets let a burst in together. */
const DOORS = 16

/** Where to listen: on a port, which `reusePort` lets other threads listen on too, or on a socket of this machine alone. */
type ListenAt = { readonly host: string; readonly port: number; readonly reusePort?: boolean } | { readonly path: string }

/** A certificate with its key, both as PEM. */
export interface TlsPair {
  readonly certificate: string
  readonly key: string
  readonly minVersion: SecureVersion
  /** In seconds. */
  readonly expiresAt: number
}

const OPTIONS: ServerOptions = {
  maxHeaderSize: HEADER_BYTES_MAX,
  headersTimeout: HEADERS_TIMEOUT_SECONDS * 1000,
  requestTimeout: BODY_TIMEOUT_SECONDS * 1000,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: SLOW_CLIENT_CHECK_MS,
  // A missing host is refused by the listener, with a request id.
  requireHostHeader: false,
}

const contextOf = ({ certificate, key, minVersion }: TlsPair) => ({ cert: certificate, key, minVersion })

type WebServer = Server | SecureServer

interface MadeServer {
  readonly server: WebServer
  readonly useTls: (pair: TlsPair) => void
  /** Cuts the connections that have not shaken hands, which the server does not count among its own. */
  readonly cutUnshaken: () => void
}

function makeServer(listener: RequestListener, tls: TlsPair | null): MadeServer {
  if (tls === null) return { server: createServer(OPTIONS, listener), useTls: () => undefined, cutUnshaken: () => undefined }
  const server = createSecureServer({ ...OPTIONS, ...contextOf(tls), handshakeTimeout: HEADERS_TIMEOUT_SECONDS * 1000 }, listener)
  const unshaken = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    unshaken.set(peer, socket)
    socket.once('close', () => {
      if (unshaken.get(peer) === socket) unshaken.delete(peer)
    })
  })
  server.on('secureConnection', (socket) => unshaken.delete(peerOf(socket)))
  const cutUnshaken = (): void => {
    for (const socket of unshaken.values()) socket.destroy()
  }
  return { server, useTls: (pair) => server.setSecureContext(contextOf(pair)), cutUnshaken }
}

/** The same before the handshake and after it. */
const peerOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`

interface ListenOptions {
  readonly graceSeconds?: number | undefined
  /** A client that reads nothing of its answer for so long is let go. */
  readonly stallSeconds?: number
  readonly tls?: TlsPair | null
}

/** With a certificate it speaks https alone. `useTls` changes it for connections that come; those that are there go on. */
export async function listen(
  listener: RequestListener,
  at: ListenAt,
  { graceSeconds = SHUTDOWN_GRACE_SECONDS, stallSeconds = CLIENT_STALL_SECONDS, tls = null }: ListenOptions = {},
) {
  const answers = new OpenAnswers(stallSeconds)
  const answer = noting(answers, 'path' in at ? listener : disbelieving(listener))
  const { server, useTls, cutUnshaken } = makeServer(answer, tls)
  // An unknown expectation is ignored; the request is answered as any other.
  server.on('checkExpectation', answer)
  server.on('clientError', refuseUnreadable)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...at, backlog: BACKLOG }, resolve)
  })
  // With no descriptors left, accepting fails. That client is lost, the service is not.
  server.on('error', () => undefined)
  const doors: Door[] = []
  const close = (): Promise<void> => {
    const closed = closeGracefully(server, doors, answers, graceSeconds)
    cutUnshaken()
    return closed
  }
  const address = server.address()
  if (address === null || typeof address === 'string') return { address: '', port: 0, useTls, close }
  if ('reusePort' in at && at.reusePort) doors.push(...(await openDoors(server, address)))
  return { address: addressText(address, tls !== null), port: address.port, useTls, close }
}

function noting(answers: OpenAnswers, listener: RequestListener): RequestListener {
  return (request, response) => {
    answers.note(request, response)
    listener(request, response)
  }
}

/** Clients do not say where they come from: a connection that is closed has no address any more, and theirs would stand for it. */
function disbelieving(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (request.headers[RELAYED_FROM_HEADER] !== undefined) delete request.headers[RELAYED_FROM_HEADER]
    listener(request, response)
  }
}

/** Further sockets on the same port. One that cannot be opened is done without. */
async function openDoors(server: WebServer, at: AddressInfo): Promise<readonly Door[]> {
  const opened = Array.from({ length: DOORS - 1 }, () => openDoor(server, at).catch(() => null))
  return (await Promise.all(opened)).filter((door) => door !== null)
}

function openDoor(server: WebServer, { address, port }: AddressInfo): Promise<Door> {
  // As the server's own connections are: with a certificate, a client that leaves before it shook hands is gone.
  const door = createDoor({ allowHalfOpen: !(server instanceof SecureServer), noDelay: true }, (socket) =>
    server.emit('connection', socket),
  )
  return new Promise((resolve, reject) => {
    door.once('error', reject)
    door.listen({ host: address, port, reusePort: true, backlog: BACKLOG }, () => {
      door.on('error', () => undefined)
      resolve(door)
    })
  })
}

/** Bytes that are no HTTP request never reach the listener, so they are answered here. */
function refuseUnreadable(error: Error, socket: Duplex): void {
  // An answer may be under way on this connection; more bytes would land in the middle of it.
  const hasAnswered = socket instanceof Socket && socket.bytesWritten > 0
  const isHandshake = 'code' in error && String(error.code).startsWith('ERR_SSL_')
  if (!socket.writable || hasAnswered || isHandshake) {
    socket.destroy()
    return
  }
  socket.end(unreadableAnswer(error))
  setTimeout(() => socket.destroy(), HANG_UP_AFTER_MS).unref()
}

/** By Node's code for what it could not read. Anything else is malformed. */
const KNOWN: Readonly<Record<string, HttpRefusal>> = {
  HPE_HEADER_OVERFLOW: new HttpRefusal(431, 'headers_too_large', 'the request headers together are too large; send fewer or shorter ones'),
  ERR_HTTP_REQUEST_TIMEOUT: new HttpRefusal(408, 'request_timeout', 'the request did not arrive in time; send it again'),
}
const MALFORMED = new HttpRefusal(
  400,
  'malformed_request',
  'this is no HTTP request that can be read; check its first line and its headers',
)

function unreadableAnswer(error: Error): string {
  const refusal = ('code' in error ? KNOWN[String(error.code)] : undefined) ?? MALFORMED
  const { status, body } = answerError(refusal, '')
  const text = JSON.stringify(body)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'connection: close',
    'content-type: application/json',
    'x-content-type-options: nosniff',
    'cache-control: no-store',
    `content-length: ${Buffer.byteLength(text)}`,
    `${HEADER.requestId}: ${newId()}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}

/** Answers in flight may finish within the grace period. Then connections are cut, and what was received is kept. */
async function closeGracefully(server: WebServer, doors: readonly Door[], answers: OpenAnswers, graceSeconds: number): Promise<void> {
  // A client that was not told would send its next request to a connection that is being closed.
  answers.beLast()
  const closed = Promise.all([server, ...doors].map(closedOf))
  // Node takes a connection for idle once its answer is over here, however much of that is still on its way.
  const closeIdle = (): void => {
    if (!answers.isSending) server.closeIdleConnections()
  }
  closeIdle()
  const idle = setInterval(closeIdle, 100)
  const grace = setTimeout(() => server.closeAllConnections(), graceSeconds * 1000)
  await closed
  clearInterval(idle)
  clearTimeout(grace)
  answers.close()
  // Ends what it has running for its connections.
  server.close()
}

/** Listens no longer. A web server's own way to close would begin with its idle connections. */
function closedOf(door: Door): Promise<void> {
  return new Promise((resolve) => {
    Door.prototype.close.call(door, () => resolve())
  })
}

export function addressText(address: Pick<AddressInfo, 'family' | 'address' | 'port'>, isSecure: boolean): string {
  return `${isSecure ? 'https' : 'http'}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}
