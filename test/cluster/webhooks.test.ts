/** Webhooks of several services over one PostgreSQL: each event is told by one of them, and the next one goes on. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { commit, create } from '../../conformance/store-samples.ts'
import postgres from '../../plugins/stores/postgres/index.ts'
import type { JsonObject, Store } from '../../src/contract/index.ts'
import { WebhookDelivery, type MoneySpender } from '../../src/webhooks/index.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { until } from '../support/wait.ts'

const NOON = Math.floor(Date.now() / 86_400_000) * 86_400 + 43_200
const SPENT: MoneySpender = { kind: 'token', name: 'ci', key: 'token ci', spent: 9, limit: 10 }

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

/** A service: its store, and what it sent. */
async function service() {
  const store: Store = await postgres.plugin.make({ url: server.url, schema: 'webhooks', connections: 3 })
  const sent: JsonObject[] = []
  const { documents } = store
  if (documents === undefined) throw new Error('the store has documents')
  const settings = {
    name: 'chat',
    url: 'http://target.example/',
    secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
    allowsInside: true,
  }
  const open = () =>
    WebhookDelivery.open([{ ...settings, events: new Set(['published', 'budget'] as const) }], (fence) => documents('webhooks', fence), {
      store,
      clock: () => NOON,
      newId: () => 'again',
      lookMs: 50,
      told: async () => ({ error: null, budget: null }),
      log: () => undefined,
      send: async ({ body }) => {
        sent.push(JSON.parse(body))
        return 204
      },
    })
  const webhooks = await open()
  webhooks.watch(async () => [SPENT])
  onTestFinished(async () => {
    await webhooks.close()
    await store.close()
  })
  return { store, webhooks, sent }
}

it('rows and spent money are told once by all of them together, also after the one that told is gone', { timeout: 60_000 }, async () => {
  const one = await service()
  await create(one.store, 'a')
  const two = await service()
  const types = (): readonly unknown[] => [...one.sent, ...two.sent].map(({ type }) => type)
  await one.store.scenario('a').commit(commit(1))
  await until(() => types().length === 2)
  expect(new Set(types())).toEqual(new Set(['budget', 'published']))
  expect(two.sent).toEqual([])
  // Its lease goes with it, and nothing is said of where it was.
  await one.store.close()
  await two.store.scenario('a').commit(commit(2))
  await until(() => two.sent.some(({ type }) => type === 'published'))
  await until(async () => (await two.webhooks.states())[0]?.isDelivering === true)
  expect(types().filter((type) => type === 'budget')).toHaveLength(1)
  expect(two.sent.filter(({ data }) => Object(data)['step'] === 1)).toEqual([])
})
