/** A server of a test takes any free port of this machine. */
import { createServer, type Server } from 'node:net'

/** Answers the port it got. */
export async function listenOnLoopback(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server of this test has no port')
  return address.port
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listenOnLoopback(server)
  server.close()
  return port
}
