/** A small HTTP server of one test. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { listenOnLoopback } from './listen.ts'

/** Answers its address. It is closed when the test ends. */
export async function testServer(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((request, response) => void answer(request, response))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${await listenOnLoopback(server)}`
}
