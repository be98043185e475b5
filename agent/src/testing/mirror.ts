/** A person whose harness comes from a server that may lie, and what the server answers with. */
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { signedManifest, type TestDeployment } from '../../../client/src/testing/signed.ts'
import { listenOnLoopback } from '../../../test/support/listen.ts'
import { install } from '../install.ts'
import { installFolder } from '../places.ts'
import { readRecord } from '../record.ts'
import { start } from './agent-install.ts'
import { anInstallation, answersCaller, makeHome, transcript } from './harness-home.ts'

export const RAN = `{\nprintf '%s\\n' ran >>"$HOME/ran"\n}\n`
/** After every step that the first install of a test has. */
export const LATER = 1_000_000

/** What the server at the install's address answers with. */
export interface Mirror {
  readonly url: string
  manifest: string
  script: string
  redirect: string | null
}

async function mirror(): Promise<Mirror> {
  const server = createServer((request, response) => {
    if (answersCaller(request, response)) return
    if (self.redirect !== null) response.writeHead(302, { location: self.redirect + (request.url ?? '') }).end()
    else response.end(request.url?.startsWith('/svc/harness/install') === true ? self.script : self.manifest)
  })
  onTestFinished(() => void server.close())
  const self: Mirror = { url: `http://127.0.0.1:${await listenOnLoopback(server)}`, manifest: '', script: '', redirect: null }
  return self
}

/** A release as a deployment answers with it, later than everything before. */
export function serve(
  to: Mirror,
  by: TestDeployment,
  number: number,
  more: { readonly scenario?: string; readonly adapter?: string } = {},
): void {
  const about = { scenario: 'demo', adapter: 'agent', release_id: `r${number}`, step: LATER + number, ...more }
  const files = { 'AGENTS.md': `release ${number}\n` }
  to.manifest = JSON.stringify(signedManifest(by, { ...about, content_id: `c${number}` }, { files }))
  to.script = by.script(RAN, about)
}

/** Installed from a server that turns out to be anything. */
export async function person() {
  const [home, server] = [makeHome(), await mirror()]
  await install({ ...home.order(anInstallation({ url: server.url })), terminal: transcript() })
  const folder = installFolder(home.path, home.destination)
  const self = { folder, record: await readRecord(folder), env: home.env }
  return {
    home,
    server,
    folder,
    self,
    /** Whether a script was run, and how often. */
    ran: (): number => (existsSync(join(home.path, 'ran')) ? readFileSync(join(home.path, 'ran'), 'utf8').split('\n').length - 1 : 0),
    /** The real wrapper, in a process of its own. */
    svc: (args: readonly string[], env: NodeJS.ProcessEnv = {}) => start({ ...self, env: { ...self.env, ...env } }, ...args).end,
  }
}

const json = (text: string): Record<string, unknown> => JSON.parse(text)
export const changed = (to: Mirror, change: (manifest: Record<string, unknown>) => void): void => {
  const manifest = json(to.manifest)
  change(manifest)
  to.manifest = JSON.stringify(manifest)
}
