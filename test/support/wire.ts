/** A server that answers with exact bytes, valid or not. */
import { createServer, type Socket } from 'node:net'
import { listenOnLoopback } from './listen.ts'

export interface Wire {
  readonly url: string
  /** What becomes of each connection once a request has come. */
  answer(act: (socket: Socket) => void): void
  /** Connections that are open now. */
  readonly open: number
  close(): Promise<void>
}

const hangUp = (socket: Socket): void => void socket.destroy()

export async function startWire(): Promise<Wire> {
  let act: (socket: Socket) => void = hangUp
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.on('data', () => act(socket))
  })
  const port = await listenOnLoopback(server)
  return {
    url: `http://127.0.0.1:${port}`,
    answer: (next) => {
      act = next
    },
    get open() {
      return sockets.size
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
