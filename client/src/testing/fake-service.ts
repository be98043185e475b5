/** The batch route of a service, in memory, with every way to fail that a network has. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { listenOnLoopback } from '../../../test/support/listen.ts'

interface Envelope {
  readonly agent_record_id: string
  readonly request_type: string
  readonly payload: unknown
}

export type Behaviour =
  /** Stores and answers. What every request gets once the script is used up. */
  | 'store'
  /** Breaks the connection and stores nothing. */
  | 'drop'
  /** Stores, then breaks the connection before the answer. */
  | 'store and drop'
  /** Never answers. */
  | 'hang'
  | Scripted

interface Scripted {
  readonly status: number
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Breaks the connection after the body, of which more was promised: by its length, or by the chunk that never ends it. */
  readonly cut?: 'length' | 'chunks'
}

export interface FakeService {
  readonly url: string
  /** What is stored, in order, each id once. */
  readonly stored: Map<string, Envelope>
  readonly requests: { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[]
  /** What the next requests get, first first. */
  readonly script: Behaviour[]
  /** Called when a request is there whole, after its records are stored, and after its answer is sent. */
  onArrived: (path: string) => void
  onStored: () => void
  onAnswered: () => void
}

export async function fakeService(...script: Behaviour[]): Promise<FakeService> {
  const server = createServer((request, response) => void handle(service, request, response))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const service: FakeService = {
    url: `http://127.0.0.1:${await listenOnLoopback(server)}`,
    stored: new Map(),
    requests: [],
    script,
    onArrived: () => undefined,
    onStored: () => undefined,
    onAnswered: () => undefined,
  }
  return service
}

async function handle(service: FakeService, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request).catch(() => null)
  if (body === null) return
  service.onArrived(request.url ?? '')
  service.requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
  const behaviour = service.script.shift() ?? 'store'
  if (behaviour === 'hang') return
  if (behaviour === 'drop') return void request.socket.destroy()
  if (typeof behaviour === 'object') return follow(behaviour, response)
  const { records }: { readonly records: readonly Envelope[] } = JSON.parse(body)
  if (records.some((record) => isConflict(service, record))) return void response.writeHead(409).end()
  for (const record of records) if (!service.stored.has(record.agent_record_id)) service.stored.set(record.agent_record_id, record)
  service.onStored()
  if (behaviour === 'store and drop') return void request.socket.destroy()
  const receipts = records.map(({ agent_record_id, request_type }) => ({ agent_record_id, scenario: 's', request_type }))
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ records: receipts }), () => service.onAnswered())
}

function follow({ status, body = '', headers, cut }: Scripted, response: ServerResponse): void {
  if (cut === undefined) return void response.writeHead(status, headers).end(body)
  response.writeHead(status, cut === 'length' ? { ...headers, 'content-length': Buffer.byteLength(body) + 1 } : headers)
  response.write(body, () => response.destroy())
}

function isConflict({ stored }: FakeService, record: Envelope): boolean {
  const found = stored.get(record.agent_record_id)
  return found !== undefined && JSON.stringify(found) !== JSON.stringify(record)
}
