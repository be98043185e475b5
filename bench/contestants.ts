/** The contestants: how each is started in front of an upstream, and the headers its requests need. */

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { FORMAT } from './formats.ts'
import { startNginxProxy } from './nginx.ts'
import type { ContestantName, FormatName } from './options.ts'
import { freePort, type Process, start } from './processes.ts'

export const TOKEN = 'bench'
export const SCENARIO = 'bench'

const SERVICE = new URL('../bin/svc.mjs', import.meta.url).pathname
const BUILT = new URL('../dist/src/cli/index.js', import.meta.url).pathname
const PORTKEY = new URL('./node_modules/@portkey-ai/gateway/', import.meta.url).pathname

export interface Site {
  readonly upstreamPort: number
  /** Where the contestant may keep its data and its output. */
  readonly directory: string
  readonly format: FormatName
  /** Further options of the service. */
  readonly settings: Readonly<Record<string, string>>
  readonly before: string | undefined
}

export const recordsIn = ({ directory }: Pick<Site, 'directory'>): string => join(directory, 'records')
export const artifactsIn = ({ directory }: Pick<Site, 'directory'>): string => join(directory, 'artifacts.git')

export interface Running {
  readonly name: ContestantName
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
  /** Missing for the upstream itself, whose cost is not measured. */
  readonly process?: Process
  readonly bootMs: number
}

export interface Contestant {
  readonly name: ContestantName
  /** Its answers carry receipts that must survive kill -9. */
  readonly durable: boolean
  /** Starts with an empty directory every round. */
  readonly fresh: boolean
  readonly start: (site: Site) => Promise<Running>
}

export const CONTESTANT: Readonly<Record<ContestantName, Contestant>> = {
  direct: {
    name: 'direct',
    durable: false,
    fresh: false,
    start: ({ upstreamPort }) => Promise.resolve({ name: 'direct', port: upstreamPort, headers: {}, bootMs: 0 }),
  },
  nginx: { name: 'nginx', durable: false, fresh: false, start: startNginxContestant },
  portkey: { name: 'portkey', durable: false, fresh: false, start: (site) => startPortkey('portkey', vendorNode(), site) },
  'portkey-our-node': {
    name: 'portkey-our-node',
    durable: false,
    fresh: false,
    start: (site) => startPortkey('portkey-our-node', process.execPath, site),
  },
  'svc-memory': { name: 'svc-memory', durable: false, fresh: true, start: (site) => startService('svc-memory', site) },
  'svc-durable': { name: 'svc-durable', durable: true, fresh: true, start: (site) => startService('svc-durable', site) },
  'svc-before': { name: 'svc-before', durable: true, fresh: true, start: (site) => startService('svc-before', site) },
}

async function startNginxContestant({ directory, upstreamPort }: Site): Promise<Running> {
  const port = await freePort()
  const startedAt = performance.now()
  const process = await startNginxProxy(directory, port, upstreamPort)
  return { name: 'nginx', port, headers: {}, process, bootMs: performance.now() - startedAt }
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

/** A second start in one directory finds the records of the first. */
async function startService(name: 'svc-memory' | 'svc-durable' | 'svc-before', site: Site): Promise<Running> {
  const port = await freePort()
  const settings = {
    '--svc.port': String(port),
    '--svc.host': '127.0.0.1',
    '--inference.runtime': 'provider',
    '--inference.upstream_url': `http://127.0.0.1:${site.upstreamPort}`,
    '--storage.agent_record_dir': recordsIn(site),
    '--storage.artifact_repository': artifactsIn(site),
    ...(name === 'svc-memory' ? { '--storage.record_backend': 'memory' } : {}),
    ...site.settings,
  }
  const service = name === 'svc-before' ? resolve(site.before ?? '', 'bin/svc.mjs') : SERVICE
  const args = [service, 'serve', ...Object.entries(settings).flat()]
  const env = { SVC_TOKEN: TOKEN, NODE_ENV: 'production' }
  const startedAt = performance.now()
  const process_ = await start({ command: process.execPath, args, env, port, outputFile: join(site.directory, 'service.log') })
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-svc-scenario': SCENARIO }
  return { name, port, headers, process: process_, bootMs: performance.now() - startedAt }
}

export function serviceIsBuilt(): boolean {
  return existsSync(BUILT)
}

/** Installs the other contestants into a separate folder. */
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
