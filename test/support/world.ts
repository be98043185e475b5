/** A whole service for tests: real sockets, SQLite and git in a temporary folder, and a scripted provider. */
import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { startService, type RunningService } from '../../src/main.ts'
import { argumentsOf, dataPlaceIn, loadArguments, settingsOf, USUAL_BACKEND, type Settings } from './settings.ts'
import { startUpstream, type Upstream } from './upstream.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  /** The body as JSON; an empty object when it is none. */
  readonly json: JsonObject
}

export interface Ask {
  readonly headers?: Readonly<Record<string, string>>
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: string | Uint8Array | object
}

export interface World {
  readonly address: string
  readonly directory: string
  readonly upstream: Upstream
  /** The lines of the log so far. */
  readonly log: readonly JsonObject[]
  ask(method: string, path: string, ask?: Ask): Promise<Answer>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  post(path: string, body: Ask['body'], headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Sends one exchange and returns its receipt. */
  exchange(scenario: string): Promise<string>
  /** Stops the service and starts it again on the same data, with these settings more. */
  restart(settings?: Settings): Promise<void>
  close(): Promise<void>
}

export interface WorldOptions {
  readonly settings?: Settings
  readonly environment?: Readonly<Record<string, string>>
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The address of this machine that a request comes from: wrong tokens are counted by it. */
  readonly from?: () => string
  /** 'memory' is quick; 'sqlite' is what ships. */
  readonly backend?: 'memory' | 'sqlite'
}

export async function world(options: WorldOptions = {}): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-test-'))
  const upstream = await startUpstream()
  const usual = settingsOf(dataPlaceIn(directory), upstream.url)
  let settings: Settings = { ...usual, 'storage.record_backend': options.backend ?? USUAL_BACKEND, ...options.settings }
  const log: JsonObject[] = []
  let service: RunningService = await start(settings, options.environment ?? {}, log)
  const ask: World['ask'] = (method, path, what = {}) =>
    send(service.address, method, path, { ...what, headers: { ...options.headers, ...what.headers } }, options.from?.())
  return {
    get address() {
      return service.address
    },
    directory,
    upstream,
    log,
    ask,
    get: (path, headers = {}) => ask('GET', path, { headers }),
    post: (path, body, headers = {}) => ask('POST', path, { headers, ...(body !== undefined && { body }) }),
    async exchange(scenario) {
      const answer = await ask('POST', '/v1/chat/completions', {
        headers: { 'x-svc-scenario': scenario },
        body: { model: 'm', messages: [] },
      })
      return String(answer.headers['x-svc-agent-record-id'])
    },
    async restart(more = {}) {
      await service.close()
      settings = { ...settings, ...more }
      service = await start(settings, options.environment ?? {}, log)
    },
    async close() {
      await service.close()
      await upstream.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** One service for all tests of a file or a group: started before the first of them, closed after the last. */
export const sharedWorld = (options: WorldOptions = {}): World => shared(() => world(options))

/** Opened before the first test of a file or a group, closed after the last. */
export function shared<T extends { close(): Promise<unknown> }>(open: () => Promise<T>, timeoutMs?: number): T {
  let current: T | null = null
  beforeAll(async () => {
    current = await open()
  }, timeoutMs)
  afterAll(() => current?.close())
  return lazily(() => {
    if (current === null) throw new Error('the service of these tests starts with the first of them')
    return current
  })
}

/** Reads every property of the object that there is at that time. */
export function lazily<T extends object>(now: () => T): T {
  const nothing: T = Object.create(null)
  return new Proxy(nothing, { get: (_, name) => Reflect.get(now(), name) })
}

/** A service for one test, closed when the test is over, however it ends. */
export async function ownWorld(options: WorldOptions = {}): Promise<World> {
  const here = await world(options)
  onTestFinished(() => here.close())
  return here
}

async function start(settings: Settings, environment: Readonly<Record<string, string>>, lines: JsonObject[]): Promise<RunningService> {
  const loaded = await loadArguments(argumentsOf(settings), environment)
  const log = {
    write: (level: string, event: string, fields?: JsonObject) => lines.push({ level, event, ...fields }),
    flush: () => undefined,
  }
  // Nobody else is served: a step that waits for every other test would only take longer.
  return startService(loaded, { log, trainersGiveWay: false })
}

/** A request with the exact path, without URL normalisation. */
export function send(address: string, method: string, path: string, { headers = {}, body }: Ask, localAddress?: string): Promise<Answer> {
  const { hostname, port } = new URL(address)
  const bytes = body === undefined ? null : bytesOf(body)
  return new Promise((resolve, reject) => {
    const length = bytes === null ? {} : { 'content-length': String(bytes.length) }
    const from = localAddress === undefined ? {} : { localAddress }
    const request = httpRequest({ hostname, port, method, path, headers: { ...length, ...headers }, agent: false, ...from }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => resolve(answerOf(response.statusCode ?? 0, response.headers, Buffer.concat(parts))))
    })
    request.on('error', reject)
    request.end(bytes ?? undefined)
  })
}

function bytesOf(body: string | Uint8Array | object): Uint8Array {
  if (body instanceof Uint8Array) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function answerOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  const text = bytes.toString()
  const isJson = String(headers['content-type']).startsWith('application/json') && text.startsWith('{')
  return { status, headers, bytes, text, json: isJson ? JSON.parse(text) : {} }
}
