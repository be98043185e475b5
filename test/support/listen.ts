/** A server of a test takes any free port of this machine. */
import { randomInt } from 'node:crypto'
import type { Server as HttpServer } from 'node:http'
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

/** Ends its connections too. */
export async function closeServer(server: HttpServer): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

/** Below what a system hands out by itself (from 32768 on Linux), so that no connection takes such a port before its server does. */
const PORTS = { from: 10_000, to: 32_000 }
const handedOut = new Set<number>()

/** The first of `count` ports in a row that were free a moment ago. */
export async function freePort(count = 1): Promise<number> {
  for (;;) {
    const first = randomInt(PORTS.from, PORTS.to - count)
    const row = Array.from({ length: count }, (_, index) => first + index)
    if (row.some((port) => handedOut.has(port))) continue
    for (const port of row) handedOut.add(port)
    if ((await Promise.all(row.map(isFree))).every(Boolean)) return first
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
