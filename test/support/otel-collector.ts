/** The real collector of OpenTelemetry, which is made with Go. It sends what it took on to a server of the test, in JSON. */
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { stringify } from 'yaml'
import { demand } from '../needs/missing.ts'
import { temporaryFolder } from './folder.ts'
import { freePort } from './listen.ts'
import { until } from './wait.ts'

/** As in go.mod beside its program. */
const VERSION = 'v0.150.0'
const SOURCE = join(import.meta.dirname, 'otel-collector')
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/svc-collector')
const PROGRAM = join(FOLDER, `collector-${VERSION}`)

export const isOtelCollectorThere = (): boolean => existsSync(PROGRAM)

export async function installOtelCollector(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const env = { ...process.env, CGO_ENABLED: '0' }
  await promisify(execFile)('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', PROGRAM, '.'], { cwd: SOURCE, env, maxBuffer: 2 ** 24 })
}

/** Where it takes spans over HTTP. The caller stops it. */
export async function startOtelCollector(sendsTo: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  demand('collector')
  const endpoint = `127.0.0.1:${await freePort()}`
  const file = join(temporaryFolder(), 'collector.yaml')
  const settings = {
    receivers: { otlp: { protocols: { http: { endpoint } } } },
    exporters: { otlp_http: { endpoint: sendsTo, encoding: 'json', compression: 'none', sending_queue: { enabled: false } } },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: { traces: { receivers: ['otlp'], exporters: ['otlp_http'] } },
    },
  }
  writeFileSync(file, stringify(settings))
  const child = spawn(PROGRAM, ['--config', `file:${file}`], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (part: Buffer) => (said += part.toString()))
  const url = `http://${endpoint}`
  await until(async () => child.exitCode !== null || (await fetch(url).catch(() => null)) !== null)
  if (child.exitCode !== null) throw new Error(`the collector did not start: ${said}`)
  return {
    url,
    async stop() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}
