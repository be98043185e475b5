/** Gateways as processes of their own over one PostgreSQL, and the git repository that they share. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { placeIn, startChild } from '../crash/child.ts'
import { textAt } from '../spec/support/helpers.ts'
import type { PostgresServer } from './postgres.ts'
import { settingsOf, type Settings } from './settings.ts'
import { send, type Answer } from './world.ts'

const ENTRY = fileURLToPath(new URL('gateway-process.ts', import.meta.url))
export const SCENARIO = 's'
const PATH = `/svc/scenarios/${SCENARIO}`
const HEADERS = { 'x-svc-scenario': SCENARIO }

/** What all gateways of a deployment have in common. */
export function deploymentIn(folder: string, database: PostgresServer, schema: string): Settings {
  const remote = join(folder, `${schema}.git`)
  execFileSync('git', ['init', '-q', '--bare', remote])
  return {
    'inference.runtime': 'practice',
    'inference.upstream_url': null,
    'storage.record_backend': 'postgres',
    'storage.record_database_url': database.url,
    'storage.record_settings.schema': schema,
    'storage.record_settings.connections': 3,
    'storage.artifact_repository': pathToFileURL(remote).href,
  }
}

export class Gateway {
  readonly #child: ReturnType<typeof startChild>
  address = ''

  private constructor(folder: string, settings: Settings) {
    mkdirSync(folder, { recursive: true })
    const place = placeIn(folder)
    this.#child = startChild(place, { settings: { ...settingsOf(place, ''), ...settings }, entry: ENTRY })
  }

  /** With its data in that folder. */
  static async start(folder: string, settings: Settings): Promise<Gateway> {
    const gateway = new Gateway(folder, settings)
    const address = await gateway.#child.address
    if (address === null) throw new Error(`the gateway did not start: ${readFileSync(placeIn(folder).log, 'utf8')}`)
    gateway.address = address
    return gateway
  }

  get(path: string): Promise<Answer> {
    return send(this.address, 'GET', path, { headers: HEADERS })
  }

  post(path: string, body: object): Promise<Answer> {
    return send(this.address, 'POST', path, { headers: HEADERS, body })
  }

  remove(path: string): Promise<Answer> {
    return send(this.address, 'DELETE', path, { headers: HEADERS })
  }

  /** One exchange; answers the release that served it. */
  async served(): Promise<string> {
    const { headers } = await this.post('/v1/chat/completions', { model: 'practice', messages: [{ role: 'user', content: 'hi' }] })
    return textAt((await this.get(`${PATH}/records/${String(headers['x-svc-agent-record-id'])}`)).json, 'artifact_ref')
  }

  rollback(releaseId: string): Promise<Answer> {
    return this.post(`${PATH}/rollback`, { release_id: releaseId })
  }

  pause(): void {
    this.#child.pause()
  }

  goOn(): void {
    this.#child.goOn()
  }

  /** At once. */
  async kill(): Promise<void> {
    this.#child.kill('family')
    await this.#child.ended
  }
}
