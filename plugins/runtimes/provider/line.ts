/** A connection to the upstream whose socket an answer knows: only the socket says whether the body has left. */
import type { Socket } from 'node:net'
import { Client, type buildConnector, type Dispatcher } from 'undici'
import { AnswerHandler } from './answer.ts'

class UpstreamLine extends Client {
  readonly #socketOf: () => Socket | null

  constructor(origin: URL, options: object) {
    let socket: Socket | null = null
    const connect = connectorIn(options)
    const noting: buildConnector.connector = (to, callback) =>
      connect?.(to, (...[error, opened]) => {
        socket = opened
        if (error === null) callback(null, opened)
        else callback(error, null)
      })
    super(origin, connect === null ? options : { ...options, connect: noting })
    this.#socketOf = () => socket
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof AnswerHandler) handler.goesBy(this.#socketOf)
    return super.dispatch(options, handler)
  }
}

/** A pool makes one connector for all its connections. */
function connectorIn(options: object): buildConnector.connector | null {
  return 'connect' in options && isConnector(options.connect) ? options.connect : null
}

const isConnector = (value: unknown): value is buildConnector.connector => typeof value === 'function'

/** Makes the connections of a pool. */
export const upstreamLine = (origin: URL, options: object): UpstreamLine => new UpstreamLine(origin, options)
