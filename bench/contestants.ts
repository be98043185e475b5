/** The contestants: how each is started in front of an upstream, and the headers its requests need. */

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { artifactsIn, recordsIn, SCENARIO, TOKEN, type Contestant, type Running, type Site } from './contestant.ts'
import { FORMAT } from './formats.ts'
import { startNginxProxy } from './nginx.ts'
import type { ContestantName } from './options.ts'
import { freePort, start } from './processes.ts'
import { startLitellm, startReef } from './python.ts'

const CHECKOUT = new URL('..', import.meta.url).pathname
const BUILT = new URL('../dist/src/cli/index.js', import.meta.url).pathname
const RELAY = new URL('./relay.ts', import.meta.url).pathname
const PORTKEY = new URL('./node_modules/@portkey-ai/gateway/', import.meta.url).pathname

export const CONTESTANT: Readonly<Record<ContestantName, Contestant>> = {
  direct: { ...lasting('direct', startDirect), isPeer: false },
  nginx: lasting('nginx', startNginxContestant),
  'node-relay': lasting('node-relay', startRelay),
  portkey: lasting('portkey', (site) => startPortkey('portkey', vendorNode(), site)),
  'portkey-our-node': lasting('portkey-our-node', (site) => startPortkey('portkey-our-node', process.execPath, site)),
  litellm: lasting('litellm', startLitellm),
  reef: { name: 'reef', durable: true, isPeer: true, fresh: true, start: startReef },
  'svc-memory': { ...ours('svc-memory'), durable: false },
  'svc-durable': ours('svc-durable'),
  'svc-2-listeners': ours('svc-2-listeners'),
  'svc-before': ours('svc-before'),
}

/** Started once per part; records nothing. */
function lasting(name: ContestantName, begin: Contestant['start']): Contestant {
  return { name, durable: false, isPeer: true, fresh: false, start: begin }
}

function ours(name: ServiceName): Contestant {
  return { name, durable: true, isPeer: false, fresh: true, start: (site) => startService(name, site) }
}

function startDirect({ upstreamPort }: Site): Promise<Running> {
  return Promise.resolve({ name: 'direct', port: upstreamPort, headers: {}, bootMs: 0 })
}

async function startNginxContestant({ directory, upstreamPort }: Site): Promise<Running> {
  const port = await freePort()
  const startedAt = performance.now()
  const process = await startNginxProxy(directory, port, upstreamPort)
  return { name: 'nginx', port, headers: {}, process, bootMs: performance.now() - startedAt }
}

async function startRelay({ directory, upstreamPort }: Site): Promise<Running> {
  const port = await freePort()
  const args = [RELAY, String(port), String(upstreamPort)]
  const startedAt = performance.now()
  const process_ = await start({ command: process.execPath, args, port, outputFile: join(directory, 'relay.log') })
  return { name: 'node-relay', port, headers: {}, process: process_, bootMs: performance.now() - startedAt }
}

/** The vendor's image runs Node 20. */
function vendorNode(): string {
  const pinned = new URL(`./node_modules/node-${process.platform}-${process.arch}/bin/node`, import.meta.url).pathname
  if (!existsSync(pinned)) throw new Error('bench/ holds no Node 20 for this platform; leave portkey out with --only')
  return pinned
}

async function startPortkey(name: ContestantName, node: string, { directory, upstreamPort, format }: Site): Promise<Running> {
  const port = await freePort()
  const args = [join(PORTKEY, 'build/start-server.js'), '--headless', `--port=${port}`]
  const startedAt = performance.now()
  const env = { NODE_ENV: 'production' }
  const process_ = await start({ command: node, args, env, port, outputFile: join(directory, 'portkey.log') })
  const headers = {
    authorization: 'Bearer any',
    'x-portkey-provider': FORMAT[format].provider,
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  }
  return { name, port, headers, process: process_, bootMs: performance.now() - startedAt }
}

type ServiceName = 'svc-memory' | 'svc-durable' | 'svc-2-listeners' | 'svc-before'

/** A second start in one directory finds the records of the first. */
async function startService(name: ServiceName, site: Site): Promise<Running> {
  const port = await freePort()
  const checkout = name === 'svc-before' ? resolve(site.before ?? '') : CHECKOUT
  const settings = {
    '--svc.port': String(port),
    '--svc.host': '127.0.0.1',
    '--inference.runtime': 'provider',
    '--inference.upstream_url': `http://127.0.0.1:${site.upstreamPort}`,
    '--storage.agent_record_dir': recordsIn(site),
    '--storage.artifact_repository': artifactsIn(site),
    ...(hasListeners(checkout) ? { '--svc.listeners': name === 'svc-2-listeners' ? '2' : '1' } : {}),
    ...(name === 'svc-memory' ? { '--storage.record_backend': 'memory' } : {}),
    ...site.settings,
  }
  const args = [join(checkout, 'bin/svc.mjs'), 'serve', ...Object.entries(settings).flat()]
  const env = { SVC_TOKEN: TOKEN, NODE_ENV: 'production' }
  const startedAt = performance.now()
  const [command, ...prefix] = [...(site.cores === undefined ? [] : ['taskset', '-c', site.cores]), process.execPath]
  const outputFile = join(site.directory, 'service.log')
  const process_ = await start({ command, args: [...prefix, ...args], env, port, outputFile, healthPath: '/healthz' })
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-svc-scenario': SCENARIO }
  return { name, port, headers, process: process_, bootMs: performance.now() - startedAt }
}

/** Whether the service of that checkout can serve from several threads. */
export function hasListeners(checkout = CHECKOUT): boolean {
  return readFileSync(join(checkout, 'src/config/schema.ts'), 'utf8').includes(' listeners:')
}

export function serviceIsBuilt(): boolean {
  return existsSync(BUILT)
}

/** Into a separate folder. */
export function installPortkey(): void {
  if (existsSync(PORTKEY)) return
  const cwd = new URL('.', import.meta.url).pathname
  const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ci in bench/ failed:\n${stderr}`)
}

export function portkeyVersion(): string | undefined {
  const file = join(PORTKEY, 'package.json')
  if (!existsSync(file)) return undefined
  return /"version": "([^"]+)"/.exec(readFileSync(file, 'utf8'))?.[1]
}
