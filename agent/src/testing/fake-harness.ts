/** The harness routes of a service, in memory: manifests by release, and the install script as a test gives it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Requires } from '@svc-ai/client/shared'
import { install } from '../install.ts'
import { installFolder } from '../places.ts'
import { readRecord } from '../record.ts'
import { signedManifest } from '../../../client/src/testing/signed.ts'
import { anInstallation, answersCaller, DEPLOYMENT, makeHome, transcript } from './harness-home.ts'
import { listening } from './upstream.ts'

/** After every step that an install of a test has seen. */
const STEP = 1_000_000

interface FakeHarness {
  readonly url: string
  /** Release id to what it needs; the last one is served. */
  readonly releases: Map<string, readonly Requires[]>
  /** What the install route answers; null breaks the connection in the middle of it. */
  script: string | null
  /** The rows of the catalog; null where the token may not read it. */
  rows: readonly object[] | null
  /** Served in place of the last one to whom asks for what is unproven. */
  provisional: string | null
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[]
}

/** A service whose release `r1` needs this, and an install of that release, set up or not. */
export async function installedFrom(requires: readonly Requires[] = []) {
  const home = makeHome()
  const url = await listening((request, response) => answer(harness, request, response))
  const harness: FakeHarness = { url, releases: new Map([['r1', requires]]), script: '', rows: [], provisional: null, requests: [] }
  await install({ ...home.order(anInstallation({ url })), terminal: transcript() })
  const folder = installFolder(home.path, home.destination)
  return { self: { folder, record: await readRecord(folder), env: home.env }, folder, home, harness }
}

function answer(harness: FakeHarness, request: IncomingMessage, response: ServerResponse): void {
  if (answersCaller(request, response)) return
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
  harness.requests.push({ path: request.url ?? '', authorization: request.headers.authorization })
  if (pathname === '/svc/harness/releases')
    return void response.writeHead(harness.rows === null ? 403 : 200).end(JSON.stringify({ releases: harness.rows ?? [] }))
  const unproven = request.headers['x-svc-provisional'] === 'yes' ? harness.provisional : null
  const release = searchParams.get('release_id') ?? unproven ?? [...harness.releases.keys()].at(-1) ?? ''
  const requires = harness.releases.get(release)
  if (requires === undefined) return void response.writeHead(404).end('{"error":{"message":"unknown release","code":"unknown_release"}}')
  const about = { scenario: 'demo', adapter: 'agent', step: STEP + [...harness.releases.keys()].indexOf(release) }
  if (pathname === '/svc/harness') {
    const held = release === harness.provisional
    const manifest = signedManifest(DEPLOYMENT, { ...about, release_id: release, content_id: 'c', held }, { requires })
    return void response.end(JSON.stringify({ ...manifest, ...(held && { provisional: true }) }))
  }
  if (harness.script !== null) return void response.end(DEPLOYMENT.script(harness.script, { ...about, release_id: release }))
  response.writeHead(200, { 'content-length': '1000' })
  response.write('{\necho begun >"$1/begun"\n', () => request.socket.destroy())
}
