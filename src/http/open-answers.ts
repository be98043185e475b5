/** The answers of a server that their clients do not have yet, or not all of. Costs a request nothing but its place in a map. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** Over TLS Node does not see how much of a write was read, so that a long one is given this much time more. */
const SECURE_BYTES_PER_MS_MIN = 16
const LOOK_MS_MAX = 5000

export class OpenAnswers {
  /** The newest of each connection. */
  readonly #newest = new Map<Socket, ServerResponse>()
  readonly #timed = new WeakSet<ServerResponse>()
  readonly #stallMs: number
  readonly #looking: NodeJS.Timeout
  #areLast = false

  constructor(stallSeconds: number) {
    this.#stallMs = stallSeconds * 1000
    this.#looking = setInterval(() => this.#timeStalled(), Math.min(this.#stallMs, LOOK_MS_MAX)).unref()
  }

  note({ socket }: IncomingMessage, response: ServerResponse): void {
    if (this.#areLast) response.shouldKeepAlive = false
    if (!this.#newest.has(socket)) socket.once('close', () => this.#newest.delete(socket))
    this.#newest.set(socket, response)
  }

  /** Each is the last of its connection from here on, and says so where its headers are not sent yet. */
  beLast(): void {
    this.#areLast = true
    for (const response of this.#newest.values()) response.shouldKeepAlive = false
  }

  /** Whether one is over here, and some of it still on its way. */
  get isSending(): boolean {
    return [...this.#newest.values()].some(isOnItsWay)
  }

  close(): void {
    clearInterval(this.#looking)
  }

  /** What is over here stays in memory until the client has read it: one that stops reading would hold it for ever. */
  #timeStalled(): void {
    for (const [socket, response] of this.#newest) {
      // Where nothing waits to be read, this answer waits for an earlier one of its connection.
      if (!isOnItsWay(response) || socket.writableLength === 0 || this.#timed.has(response)) continue
      this.#timed.add(response)
      const secureMs = socket instanceof TLSSocket ? socket.writableLength / SECURE_BYTES_PER_MS_MIN : 0
      socket.setTimeout(this.#stallMs + secureMs)
      // Before the server's own listener, which then waits for the next request.
      response.prependOnceListener('finish', () => {
        socket.setTimeout(0)
        socket.resume()
      })
      // What a client sends meanwhile must not count as reading.
      socket.pause()
    }
  }
}

const isOnItsWay = ({ writableEnded, writableFinished }: ServerResponse): boolean => writableEnded && !writableFinished
