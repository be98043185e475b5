/** A server that answers with exact bytes, valid or not. */
import { createServer, type Socket } from 'node:net'
import { listenOnLoopback } from './listen.ts'

type Act = (socket: Socket) => void
const hangUp: Act = (socket) => socket.destroy()
export type Wire = Awaited<ReturnType<typeof startWire>>

export async function startWire() {
  let act = hangUp
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
    /** What becomes of each connection once a request has come. */
    answer: (next: Act) => {
      act = next
    },
    /** Connections that are open now. */
    get open() {
      return sockets.size
    },
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
