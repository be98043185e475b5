/** A server of a test takes any free port of this machine. */
import type { Server } from 'node:net'

/** Answers the port it got. */
export async function listenOnLoopback(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server of this test has no port')
  return address.port
}
