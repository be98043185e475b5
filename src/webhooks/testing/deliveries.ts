/** For the tests of this room: a store with rows, a target that answers as told, and a delivery between them. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import memory from '../../../plugins/stores/memory/index.ts'
import { closeServer, listenOnLoopback } from '../../../test/support/listen.ts'
import type { Commit, JsonObject, Store } from '../../contract/index.ts'
import { FolderDocuments } from '../../kit/index.ts'
import { WebhookDelivery, type OpenKept, type WebhookSettings } from '../index.ts'
import type { WebhookNeeds } from '../target.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
export const NOW = 1_800_000_000

export const rowAt = (step: number, change: Partial<Commit> = {}): Commit => ({
  step,
  operation: step === 0 ? 'create' : 'train',
  outcome: 'published',
  recorded_at: NOW - 10,
  release: null,
  pending: false,
  consumed_ids: [],
  metrics: {},
  state: {},
  ...change,
})

export async function storeWith(...scenarios: readonly string[]): Promise<Store> {
  const store = await memory.plugin.make({})
  for (const name of scenarios) await store.scenario(name).commit(rowAt(0))
  return store
}

interface Got {
  readonly headers: IncomingHttpHeaders
  readonly body: JsonObject
  readonly text: string
}

/** A target that answers as the script says, in turn, and then with 204. */
export async function startTarget(script: readonly (number | ((response: ServerResponse) => void))[] = []) {
  const got: Got[] = []
  const left = [...script]
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      got.push({ headers: request.headers, text, body: JSON.parse(text) })
      const next = left.shift() ?? 204
      if (typeof next === 'function') next(response)
      else response.writeHead(next).end()
    })
  })
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/hook`
  onTestFinished(() => closeServer(server))
  return { url, got, types: () => got.map(({ body }) => body['type']) }
}

export const keptStep = (folder: string, scenario: string): unknown =>
  Object(JSON.parse(readFileSync(join(folder, 'chat.json'), 'utf8'))[scenario])['step']

export const usedUp = async () => ({ error: null, budget: 'evolution.max_steps (1) is used up' })

export const untilAborted = (_: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve())
  })

/** What is set aside stays so. */
export const untilLater = (seconds: number, signal: AbortSignal): Promise<void> =>
  seconds < 600 ? Promise.resolve() : untilAborted(seconds, signal)

const EVENTS = ['held', 'published', 'failed', 'budget'] as const

export const hook = (url: string, change: Partial<WebhookSettings> = {}): WebhookSettings => ({
  name: 'chat',
  url,
  secret: SECRET,
  events: new Set(EVENTS),
  allowsInside: true,
  ...change,
})

export interface Setting {
  readonly store: Store
  readonly hooks: readonly WebhookSettings[]
  readonly folder?: string
  readonly needs?: Partial<WebhookNeeds>
}

let ids = 0
const keptIn =
  (folder: string | undefined): OpenKept =>
  () =>
    folder === undefined ? null : new FolderDocuments(folder)

export async function open({ store, hooks, folder, needs }: Setting) {
  const log: string[] = []
  const webhooks = await WebhookDelivery.open(hooks, keptIn(folder), {
    store,
    clock: () => NOW,
    newId: () => `id-${(ids += 1)}`,
    lookMs: 20,
    told: async (_, row) => ({ error: row.outcome === 'failed' ? 'it broke' : null, budget: null }),
    log: (_level, event, fields) => void log.push(`${event} ${JSON.stringify(fields)}`),
    pause: async () => undefined,
    ...needs,
  })
  onTestFinished(() => webhooks.close())
  return { webhooks, log }
}
