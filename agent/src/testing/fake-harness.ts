/** The harness routes of a service, in memory: manifests by release, and the install script as a test gives it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Requires } from '@svc-ai/client/shared'
import { onTestFinished } from 'vitest'

export interface FakeHarness {
  readonly url: string
  /** Release id to what it needs; the last one is served. */
  readonly releases: Map<string, readonly Requires[]>
  /** What the install route answers; null breaks the connection in the middle of it. */
  script: string | null
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[]
}

export async function fakeHarness(releases: Readonly<Record<string, readonly Requires[]>>): Promise<FakeHarness> {
  const server = createServer((request, response) => answer(harness, request, response))
  const harness: FakeHarness = { url: await listening(server), releases: new Map(Object.entries(releases)), script: '', requests: [] }
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return harness
}

function answer(harness: FakeHarness, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
  harness.requests.push({ path: request.url ?? '', authorization: request.headers.authorization })
  const release = searchParams.get('release_id') ?? [...harness.releases.keys()].at(-1) ?? ''
  const requires = harness.releases.get(release)
  if (requires === undefined) return void response.writeHead(404).end('{"error":{"message":"unknown release","code":"unknown_release"}}')
  if (pathname === '/svc/harness')
    return void response.end(JSON.stringify({ release_id: release, content_id: 'c', parent_release_id: null, files: {}, requires }))
  if (harness.script !== null) return void response.end(harness.script)
  response.writeHead(200, { 'content-length': '1000' })
  response.write('{\necho begun >"$1/begun"\n', () => request.socket.destroy())
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the fake harness has no port')
  return `http://127.0.0.1:${address.port}`
}
