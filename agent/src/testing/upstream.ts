/** A service on a real socket whose answers a test writes itself. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { listenOnLoopback } from '../../../test/support/listen.ts'

export interface Heard {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface FakeUpstream {
  readonly url: string
  readonly heard: Heard[]
}

type Handler = (heard: Heard, response: ServerResponse, request: IncomingMessage) => unknown

/** The handler is called once the whole request was read. */
export async function upstream(handle: Handler): Promise<FakeUpstream> {
  const heard: Heard[] = []
  const url = await listening(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const one = { method, url: path, headers, body: await text(request) }
    heard.push(one)
    await handle(one, response, request)
  })
  return { url, heard }
}

export async function listening(handle: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((request, response) => void handle(request, response))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${await listenOnLoopback(server)}`
}

export const json = (response: ServerResponse, status: number, body: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
