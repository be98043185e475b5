/** A relay of node:http and undici alone, which checks and records nothing: the least that a service made of these two can cost. */

import { createServer, type ServerResponse } from 'node:http'
import { type Dispatcher, Pool } from 'undici'

const [port, upstreamPort] = process.argv.slice(2)
const origin = `http://127.0.0.1:${upstreamPort}`
const upstream = new Pool(origin)

class Relayed implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** Called by the client, which takes no handler without it. */
  onRequestStart(): void {}

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[] | undefined>): void {
    const { 'content-type': type, 'content-length': length } = headers
    const sized = length === undefined ? {} : { 'content-length': String(length) }
    this.#response.writeHead(status, { 'content-type': String(type), ...sized })
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#response.write(chunk)
  }

  onResponseEnd(): void {
    this.#response.end()
  }

  onResponseError(): void {
    this.#response.destroy()
  }
}

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const body = parts.length === 1 ? (parts[0] ?? null) : Buffer.concat(parts)
    const headers = { 'content-type': 'application/json' }
    upstream.dispatch({ origin, method: 'POST', path: request.url ?? '/', headers, body }, new Relayed(response))
  })
})
server.listen(Number(port), '127.0.0.1', 4096)
