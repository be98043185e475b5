/** The listening socket: opens, and closes without cutting anyone off who can still be answered. */
import { createServer, type RequestListener } from 'node:http'
import { Socket, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { BODY_TIMEOUT_SECONDS, HEADER_BYTES_MAX, HEADERS_TIMEOUT_SECONDS, SHUTDOWN_GRACE_SECONDS } from '../contract/index.ts'
import { unreadableAnswer } from './unreadable.ts'

/** Longer than the pools of usual clients keep a connection, so that it is they who let go. */
const KEEP_ALIVE_MS = 75_000
const SLOW_CLIENT_CHECK_MS = 5000
/** Whoever was told that this is no request, or came too slowly, and does not hang up: a connection left open is a descriptor lost. */
const HANG_UP_AFTER_MS = 1000
/** Connections the system may hold for us while a burst is being accepted, one per turn of the event loop. */
const BACKLOG = 4096

export interface Listening {
  readonly address: string
  readonly port: number
  close(): Promise<void>
}

export async function listen(
  listener: RequestListener,
  host: string,
  port: number,
  graceSeconds = SHUTDOWN_GRACE_SECONDS,
): Promise<Listening> {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_SECONDS * 1000,
      requestTimeout: BODY_TIMEOUT_SECONDS * 1000,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: SLOW_CLIENT_CHECK_MS,
      // Refused further in, with a request id and in our words.
      requireHostHeader: false,
    },
    listener,
  )
  // An expectation nobody knows is let pass: the answer tells what became of the request.
  server.on('checkExpectation', listener)
  server.on('clientError', refuseUnreadable)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: BACKLOG }, resolve)
  })
  // With no descriptors left the system hands over a failure instead of a connection. That visitor is lost, the service is not.
  server.on('error', () => undefined)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return { address: addressText(address), port: address.port, close: () => closeGracefully(server, graceSeconds) }
}

/** What is no HTTP request never becomes one, so nobody further in can answer it. */
function refuseUnreadable(error: Error, socket: Duplex): void {
  // Something was already said on this connection, and perhaps is still being said: more words would land in the middle of it.
  const hasSpoken = socket instanceof Socket && socket.bytesWritten > 0
  if (!socket.writable || hasSpoken) {
    socket.destroy()
    return
  }
  socket.end(unreadableAnswer(error))
  setTimeout(() => socket.destroy(), HANG_UP_AFTER_MS).unref()
}

/** Answers in flight are finished; whoever is not done after the grace is cut off, and what came so far is kept. */
async function closeGracefully(server: ReturnType<typeof createServer>, graceSeconds: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  server.closeIdleConnections()
  const idle = setInterval(() => server.closeIdleConnections(), 100)
  const grace = setTimeout(() => server.closeAllConnections(), graceSeconds * 1000)
  await closed
  clearInterval(idle)
  clearTimeout(grace)
}

function addressText(address: AddressInfo): string {
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}
