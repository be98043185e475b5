/** Limits that several services share, over one PostgreSQL: what all of them let in together, whoever is noisy, idle or gone. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import postgres from '../../plugins/stores/postgres/index.ts'
import { serveCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { makePlace } from '../support/place.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { IS_SHORT } from '../support/short.ts'
import { ENV, isRefusal, type Store } from '../../src/contract/index.ts'
import { PriceTable } from '../../src/limits/prices.ts'
import type { SubjectLimits } from '../../src/limits/settings.ts'
import { SharedLimits } from '../../src/limits/shared.ts'
import type { LimitAdmission } from '../../src/limits/subjects.ts'
import { systemTime } from '../../src/limits/windows.ts'
import { send } from '../support/world.ts'

/** A minute is so long here. */
const WINDOW_SECONDS = 2
const SECONDS = {
  concurrent_requests: 0,
  requests_per_minute: WINDOW_SECONDS,
  tokens_per_minute: WINDOW_SECONDS,
  cost_per_day: WINDOW_SECONDS,
}
const NONE: SubjectLimits = { requests_per_minute: 0, tokens_per_minute: 0, cost_per_day: 0, concurrent_requests: 0 }
const PRICES = new PriceTable({ m: { input: 1000, output: 0 } })

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

interface Service {
  readonly limits: SharedLimits
  readonly store: Store
}
let deployments = 0

async function services(count: number, seconds = SECONDS): Promise<readonly Service[]> {
  deployments += 1
  const schema = `limits_${deployments}`
  const opened: Service[] = []
  for (let at = 0; at < count; at += 1) {
    const store = await postgres.plugin.make({ url: server.url, schema, connections: 2 })
    if (store.shares === undefined) throw new Error('the store has no shares')
    onTestFinished(() => store.close())
    opened.push({ store, limits: new SharedLimits(store.shares, PRICES, systemTime, seconds) })
  }
  return opened
}

const subject = (limits: Partial<SubjectLimits>, name = 's') => [
  { called: `scenario ${name}`, key: `scenario ${name}`, limits: { ...NONE, ...limits } },
]

/** A request whose body is there: what was let in, or the code of the refusal. */
async function tried(limits: SharedLimits, subjects: ReturnType<typeof subject>): Promise<LimitAdmission | string> {
  try {
    const admission = await limits.admit(subjects, 400)
    await admission.begin()
    return admission
  } catch (error) {
    if (isRefusal(error)) return error.code
    throw error
  }
}

const windowNow = (): number => Math.floor(Date.now() / 1000 / WINDOW_SECONDS)
const nextWindow = async (): Promise<void> => {
  const now = windowNow()
  while (windowNow() === now) await sleep(5)
}

interface Window {
  sum: number
  /** Without a refusal nobody knows whether more would have been let in: a busy machine asks too little. */
  isFull: boolean
}

/** Asks until there were as many windows in which something was refused; answers all of them. */
async function noise(all: readonly Service[], full: number, ask: (service: Service) => Promise<number>): Promise<readonly Window[]> {
  const windows: Window[] = []
  while (windows.filter(({ isFull }) => isFull).length < full) windows.push(...(await noisy(all, full, ask)))
  return windows
}

/** Asks again and again until the window ends, a few at a time; says how much was let in in each of the windows. */
async function noisy(all: readonly Service[], windows: number, ask: (service: Service) => Promise<number>): Promise<readonly Window[]> {
  await nextWindow()
  const first = windowNow()
  const seen = Array.from({ length: windows }, (): Window => ({ sum: 0, isFull: false }))
  await Promise.all(
    all.flatMap((service, place) =>
      // One of them is noisier than the others, and the last one falls silent in the middle.
      Array.from({ length: place === 0 ? 8 : 2 }, async () => {
        for (let window = windowNow(); window < first + windows; window = windowNow()) {
          const isSilent = place === all.length - 1 && (Date.now() / 1000) % WINDOW_SECONDS > WINDOW_SECONDS / 3
          const taken = isSilent ? 0 : await ask(service)
          // One that waited while the window ended was let in in the next one.
          const at = seen[windowNow() - first]
          if (at !== undefined) {
            at.sum += taken
            at.isFull ||= taken === 0 && !isSilent && window === windowNow()
          }
          if (taken === 0) await sleep(3)
        }
      }),
    ),
  )
  return seen
}

it.each(
  IS_SHORT
    ? [[4, 30]]
    : [
        [2, 500],
        [4, 30],
        [4, 2000],
      ],
)(
  '%i services let in %i requests of a window, none more, and hardly one less [access.limits-exact]',
  { timeout: 60_000 },
  async (count, limit) => {
    const all = await services(count)
    const subjects = subject({ requests_per_minute: limit })
    const windows = await noise(all, 3, async ({ limits }) => {
      const admission = await tried(limits, subjects)
      if (typeof admission === 'string') return 0
      admission.leave()
      return 1
    })
    for (const { sum, isFull } of windows) {
      expect(sum).toBeLessThanOrEqual(limit)
      if (isFull) expect(sum).toBeGreaterThanOrEqual(Math.floor(limit * 0.98))
    }
  },
)

it(
  'tokens and money stay within the limit and the last request, and what went beyond counts in the next window',
  { timeout: 60_000 },
  async () => {
    const all = await services(3)
    const subjects = subject({ tokens_per_minute: 60_000, cost_per_day: 60 })
    const each = 50
    const windows = await noise(all, 3, async ({ limits }) => {
      const admission = await tried(limits, subjects)
      if (typeof admission === 'string') return 0
      admission.settle({ model: 'm', inputTokens: each, outputTokens: 0, askedBytes: 0, answeredBytes: 0, isWhole: true })
      return each
    })
    // What runs while a window ends is counted in the next one.
    for (const { sum } of windows) expect(sum).toBeLessThanOrEqual(60_000 + 3 * each)
    for (const { sum, isFull } of windows) if (isFull) expect(sum).toBeGreaterThanOrEqual(60_000 * 0.98 - 3 * each)
  },
)

it.each(IS_SHORT ? [[3]] : [[1], [3], [200]])(
  '%i requests at once are in flight at most, and as many where they are wanted',
  { timeout: 60_000 },
  async (limit) => {
    const all = await services(4)
    const subjects = subject({ concurrent_requests: limit })
    let [inside, most] = [0, 0]
    await Promise.all(
      all.flatMap(({ limits }) =>
        Array.from({ length: Math.ceil(limit / 2) + 1 }, async () => {
          for (let turn = 0; turn < 12; turn += 1) {
            const admission = await tried(limits, subjects)
            if (typeof admission === 'string') continue
            inside += 1
            most = Math.max(most, inside)
            await sleep(20)
            inside -= 1
            admission.leave()
          }
        }),
      ),
    )
    expect(most).toBeLessThanOrEqual(limit)
    expect(most).toBeGreaterThanOrEqual(Math.floor(limit * 0.98))
  },
)

it('requests that come one after the other to one service and the other are never too many at once', async () => {
  const [a, b] = await services(2)
  const subjects = subject({ concurrent_requests: 1 })
  for (let turn = 0; turn < 20; turn += 1)
    for (const service of [a, b]) {
      const admission = service === undefined ? 'none' : await tried(service.limits, subjects)
      expect(admission).not.toBeTypeOf('string')
      if (typeof admission !== 'string') admission.leave()
    }
})

it('clients that stop while they send take no slot of others, also at another service [access.limits]', async () => {
  const [a, b] = await services(2)
  if (a === undefined || b === undefined) throw new Error('two services were started')
  const subjects = subject({ concurrent_requests: 1, requests_per_minute: 1000 }, 'slow')
  const stopped = await Promise.all(Array.from({ length: 5 }, async () => a.limits.admit(subjects, 400)))
  const inside = await tried(b.limits, subjects)
  expect(inside).toBeTypeOf('object')
  await expect(stopped[0]?.begin()).rejects.toMatchObject({ code: 'concurrency_limit' })
  stopped[0]?.leave()
  if (typeof inside !== 'string') inside.leave()
  await expect.poll(async () => typeof (await tried(a.limits, subjects)), { timeout: 10_000 }).toBe('object')
})

it('a service that is gone gives back what it held, and keeps what it spent', async () => {
  const day = { ...SECONDS, cost_per_day: 86_400 }
  const spent = { key: 'cost_per_day scenario money', seconds: 86_400 }
  const [gone, other] = await services(2, day)
  if (gone === undefined || other === undefined) throw new Error('two services were started')
  const [slots, money] = [subject({ concurrent_requests: 2 }, 'slots'), subject({ cost_per_day: 10 }, 'money')]
  expect([await tried(gone.limits, slots), await tried(gone.limits, slots)].map((end) => typeof end)).toEqual(['object', 'object'])
  const spender = await tried(gone.limits, money)
  if (typeof spender !== 'string')
    spender.settle({ model: 'm', inputTokens: 4000, outputTokens: 0, askedBytes: 0, answeredBytes: 0, isWhole: true })
  await expect.poll(async () => (await other.store.shares?.used([spent]))?.[0], { timeout: 10_000 }).toBeGreaterThanOrEqual(4)
  expect(await tried(other.limits, slots)).toBe('concurrency_limit')
  server.sql(
    `UPDATE limits_${deployments}.member SET beat_at = beat_at - interval '1 hour' WHERE id = (SELECT min(id) FROM limits_${deployments}.member)`,
  )
  // For a moment a full limit is not asked for again.
  await expect.poll(async () => typeof (await tried(other.limits, slots)), { timeout: 10_000 }).toBe('object')
  expect(await tried(other.limits, slots)).toBeTypeOf('object')
  expect(await tried(other.limits, slots)).toBe('concurrency_limit')
  expect(await other.store.shares?.used([spent])).toEqual([4])
})

const ask = (address: string) =>
  send(address, 'POST', '/v1/chat/completions', { headers: { 'x-svc-scenario': 's' }, body: { model: 'm', messages: [] } })

it('a gateway that is killed gives its slots back once it counts as gone', { timeout: 120_000 }, async () => {
  const folder = temporaryFolder()
  const { upstream, args } = await makePlace(folder)
  const hanging = Promise.withResolvers<void>()
  onTestFinished(() => hanging.resolve())
  upstream.answer(() => hanging.promise)
  const settings = {
    'storage.record_backend': 'postgres',
    'storage.record_database_url': server.url,
    'storage.record_settings.schema': 'killed',
    'storage.record_settings.connections': 2,
    'limits.scenario.concurrent_requests': 2,
  }
  const killed = await serveCommand(args(settings), { [ENV.stores]: process.env[ENV.stores] ?? '' })
  const cut = Promise.allSettled([ask(killed.address), ask(killed.address)])
  await expect.poll(() => upstream.received.length, { timeout: 30_000 }).toBe(2)
  const other = await (await makePlace(folder)).start({ settings })
  expect((await ask(other.address)).status).toBe(429)
  killed.command.signal('SIGKILL')
  await cut
  await expect.poll(async () => (await ask(other.address)).status, { timeout: 30_000, interval: 300 }).toBe(200)
})

it('without PostgreSQL nothing is let in, and it goes on when it is back', { timeout: 60_000 }, async () => {
  const [one] = await services(1)
  if (one === undefined) throw new Error('a service was started')
  const subjects = subject({ requests_per_minute: 20 })
  await server.kill()
  // A process of the server that answers a connection may outlive it for a moment.
  await expect.poll(() => tried(one.limits, subjects), { timeout: 20_000, interval: 100 }).toBe('store_unreachable')
  await server.start()
  await expect.poll(() => tried(one.limits, subjects), { timeout: 20_000 }).toBeTypeOf('object')
})
