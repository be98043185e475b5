/** A client that reads an answer incrementally and can disconnect at any time. */
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { until } from './wait.ts'

export type Open = ReturnType<typeof listen>

/** A bare connection. */
export function connectTo(address: string): Socket {
  const { hostname, port } = new URL(address)
  return connect(Number(port), hostname)
}

/** A request under way, whose answer has not begun. */
export function sendAndListen(address: string, path: string, body: string | object, headers: Readonly<Record<string, string>> = {}) {
  const { hostname, port } = new URL(address)
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const options = { hostname, port, path, method: 'POST', agent: false, headers: { 'content-length': bytes.length, ...headers } } as const
  const request = httpRequest(options)
  const answer = new Promise<Open>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => resolve(listen(request, response)))
  })
  // A dropped request must not be an unhandled rejection.
  answer.catch(() => undefined)
  request.end(bytes)
  return { answer, drop: () => void request.destroy() }
}

/** The answer once it has begun. */
export function openStream(address: string, path: string, body: object, headers: Readonly<Record<string, string>>): Promise<Open> {
  return sendAndListen(address, path, body, headers).answer
}

function listen(request: ClientRequest, response: IncomingMessage) {
  const parts: Buffer[] = []
  const text = (): string => Buffer.concat(parts).toString()
  response.on('data', (part: Buffer) => parts.push(part))
  response.on('error', () => undefined)
  /** By its own end, or with the connection cut. */
  const over = new Promise<'ended' | 'cut'>((resolve) => {
    response.on('close', () => resolve(response.complete ? 'ended' : 'cut'))
  })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    /** What came so far. */
    get text() {
      return text()
    },
    /** Waits until that text has come. */
    seen: (wanted: string) => until(() => text().includes(wanted)),
    over,
    /** Disconnects. */
    drop: () => void request.destroy(),
  }
}
