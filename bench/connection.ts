/** A keep-alive connection of the load generator on a bare socket: an HTTP client would cost more CPU than some contestants. */

import { connect, type Socket } from 'node:net'
import { MessageReader, type MessageSink } from './http-reader.ts'

/** Shared by all sockets: a read is processed before the next. */
const shared = Buffer.allocUnsafe(256 * 1024)

const RECONNECTS_MAX = 5
const RECONNECT_AFTER_MS = 50

export interface Client extends MessageSink {
  /** How long until the next request is due. Missing: at once. */
  waitMs?(): number
  /** The next request, or undefined when the connection is done. */
  next(): Buffer | undefined
  /** The connection broke; returns whether to reconnect and go on. */
  broken(cause: string): boolean
}

/** Drives one client until it has no next request. */
export function converse(port: number, client: Client): Promise<void> {
  return new Promise((resolve) => {
    new Conversation(port, client, resolve).open()
  })
}

class Conversation {
  readonly #port: number
  readonly #client: Client
  readonly #done: () => void
  #socket: Socket | undefined
  #over = false
  #reconnects = 0

  constructor(port: number, client: Client, done: () => void) {
    this.#port = port
    this.#client = client
    this.#done = done
  }

  open(): void {
    const reader = new MessageReader({
      head: (text) => this.#client.head(text),
      body: (bytes) => this.#client.body(bytes),
      end: () => {
        this.#client.end()
        this.#reconnects = 0
        this.#send()
      },
    })
    const callback = (count: number): boolean => {
      reader.push(shared.subarray(0, count))
      return true
    }
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, onread: { buffer: shared, callback } })
    this.#socket = socket
    socket.once('connect', () => this.#send())
    let cause = 'closed'
    socket.on('error', (error) => {
      cause = 'code' in error && typeof error.code === 'string' ? error.code : error.name
    })
    socket.once('close', () => this.#closed(cause))
  }

  #send(): void {
    const waitMs = this.#client.waitMs?.() ?? 0
    const socket = this.#socket
    if (waitMs <= 0) this.#write()
    // A broken connection was replaced; the new one sends.
    else setTimeout(() => socket === this.#socket && socket?.destroyed === false && this.#write(), waitMs)
  }

  #write(): void {
    const request = this.#client.next()
    if (request === undefined) this.#finish()
    else this.#socket?.write(request)
  }

  #closed(cause: string): void {
    if (this.#over) return
    this.#reconnects += 1
    if (this.#client.broken(cause) && this.#reconnects <= RECONNECTS_MAX) setTimeout(() => this.open(), RECONNECT_AFTER_MS)
    else this.#finish()
  }

  #finish(): void {
    this.#over = true
    this.#socket?.destroy()
    this.#done()
  }
}

export function requestBytes(path: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const lines = Object.entries({ host: '127.0.0.1', 'content-type': 'application/json', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  const bytes = Buffer.from(body)
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\ncontent-length: ${bytes.length}\r\n\r\n`), bytes])
}

export function statusOf(head: string): number {
  return Number(head.slice(9, 12))
}

/** Counts failures by name. */
export class FailureCount {
  readonly #counts: Record<string, number> = {}

  add(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  get counts(): Readonly<Record<string, number>> {
    return this.#counts
  }
}
