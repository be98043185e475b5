/** The answers of a server that their clients do not have yet, or not all of. */
import type { ServerResponse } from 'node:http'
import { TLSSocket } from 'node:tls'

/** Over TLS Node does not see how much of a write was read, so that a long one is given this much time more. */
const SECURE_BYTES_PER_MS_MIN = 16

export class OpenAnswers {
  readonly #open = new Set<ServerResponse>()
  readonly #stallMs: number
  #areLast = false

  constructor(stallSeconds: number) {
    this.#stallMs = stallSeconds * 1000
  }

  note(response: ServerResponse): void {
    if (this.#areLast) response.shouldKeepAlive = false
    this.#open.add(response)
    response.once('close', () => this.#open.delete(response))
    response.once('prefinish', () => this.#cutIfStalled(response))
  }

  /** Each is the last of its connection from here on, and says so where its headers are not sent yet. */
  beLast(): void {
    this.#areLast = true
    for (const response of this.#open) response.shouldKeepAlive = false
  }

  /** Whether one is over here, and some of it still on its way. */
  get isSending(): boolean {
    return [...this.#open].some(({ writableEnded, writableFinished }) => writableEnded && !writableFinished)
  }

  /** What is over here stays in memory until the client has read it: one that stops reading would hold it for ever. */
  #cutIfStalled(response: ServerResponse): void {
    const { socket } = response
    if (socket === null || response.writableFinished) return
    const secureMs = socket instanceof TLSSocket ? socket.writableLength / SECURE_BYTES_PER_MS_MIN : 0
    socket.setTimeout(this.#stallMs + secureMs)
    // Before the server's own listener, which then waits for the next request.
    response.prependOnceListener('finish', () => socket.setTimeout(0))
  }
}
