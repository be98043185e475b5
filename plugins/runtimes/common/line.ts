/** A connection to an upstream. What is sent by it may know its socket: only that says whether a body has left. */
import type { Socket } from 'node:net'
import { Client, type buildConnector, type Dispatcher } from 'undici'
import { Interim } from './interim.ts'

/** The connection that a request goes by. */
export interface UpstreamConnection {
  readonly socket: Socket | null
  /** The request is about to be sent. */
  awaitsAnswer(): void
}

/** A handler that tells its connection of the request itself. */
interface KnowingHandler extends Dispatcher.DispatchHandler {
  goesBy(line: UpstreamConnection): void
}

class UpstreamLine extends Client implements UpstreamConnection {
  readonly #opened: { socket: Socket | null; interim: Interim | null }

  constructor(origin: string | URL, options: object) {
    const opened: { socket: Socket | null; interim: Interim | null } = { socket: null, interim: null }
    const connect = connectorIn(options)
    const noting: buildConnector.connector = (to, callback) =>
      connect?.(to, (...[error, socket]) => {
        if (error !== null) return callback(error, null)
        opened.socket = socket
        opened.interim = new Interim(socket)
        callback(null, socket)
      })
    super(origin, connect === null ? options : { ...options, connect: noting })
    this.#opened = opened
  }

  get socket(): Socket | null {
    return this.#opened.socket
  }

  awaitsAnswer(): void {
    this.#opened.interim?.await()
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (isKnowing(handler)) handler.goesBy(this)
    else this.#tellOf(handler)
    return super.dispatch(options, handler)
  }

  #tellOf(handler: Dispatcher.DispatchHandler): void {
    const begin = handler.onRequestStart?.bind(handler)
    handler.onRequestStart = (...started) => {
      this.awaitsAnswer()
      begin?.(...started)
    }
  }
}

const isKnowing = (handler: Dispatcher.DispatchHandler): handler is KnowingHandler => 'goesBy' in handler

/** A pool makes one connector for all its connections. */
function connectorIn(options: object): buildConnector.connector | null {
  return 'connect' in options && isConnector(options.connect) ? options.connect : null
}

const isConnector = (value: unknown): value is buildConnector.connector => typeof value === 'function'

/** Makes the connections of a pool. */
export const upstreamLine = (origin: string | URL, options: object): UpstreamLine => new UpstreamLine(origin, options)
