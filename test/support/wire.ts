/** A server that answers with exactly the bytes it is told to, right or wrong. */
import { createServer, type Socket } from 'node:net'

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
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the wire does not listen')
  return {
    url: `http://127.0.0.1:${address.port}`,
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
