import { createHmac } from 'node:crypto'
import dns, { type LookupAddress } from 'node:dns'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import memory from '../../plugins/stores/memory/index.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { closeServer, listenOnLoopback } from '../../test/support/listen.ts'
import { until } from '../../test/support/wait.ts'
import type { Commit, JsonObject, Store } from '../contract/index.ts'
import { FolderDocuments } from '../kit/index.ts'
import { WebhookDelivery, type OpenKept, type WebhookSettings } from './index.ts'
import { sendWebhook } from './send.ts'
import { spentEvents, type MoneySpender } from './spenders.ts'
import type { WebhookNeeds } from './target.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const NOW = 1_800_000_000

const rowAt = (step: number, change: Partial<Commit> = {}): Commit => ({
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

async function storeWith(...scenarios: readonly string[]): Promise<Store> {
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
async function startTarget(script: readonly (number | ((response: ServerResponse) => void))[] = []) {
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

const keptStep = (folder: string, scenario: string): unknown =>
  Object(JSON.parse(readFileSync(join(folder, 'chat.json'), 'utf8'))[scenario])['step']

const usedUp = async () => ({ error: null, budget: 'evolution.max_steps (1) is used up' })

const untilAborted = (_: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve())
  })

/** What is set aside stays so. */
const untilLater = (seconds: number, signal: AbortSignal): Promise<void> =>
  seconds < 600 ? Promise.resolve() : untilAborted(seconds, signal)

const EVENTS = ['held', 'published', 'failed', 'budget'] as const

const hook = (url: string, change: Partial<WebhookSettings> = {}): WebhookSettings => ({
  name: 'chat',
  url,
  secret: SECRET,
  events: new Set(EVENTS),
  allowsInside: true,
  ...change,
})

interface Setting {
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

async function open({ store, hooks, folder, needs }: Setting) {
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

describe('a target', () => {
  it('is told of rows that hold, publish and fail, and not of others, signed as Standard Webhooks says', async () => {
    const [store, target] = [await storeWith('a'), await startTarget()]
    await open({ store, hooks: [hook(target.url)] })
    const a = store.scenario('a')
    await a.commit(rowAt(1, { outcome: 'pending', pending: true }))
    await a.commit(rowAt(2, { outcome: 'rejected' }))
    await a.commit(rowAt(3, { outcome: 'skipped' }))
    await a.commit(rowAt(4, { operation: 'promote' }))
    await a.commit(rowAt(5, { outcome: 'failed' }))
    await until(() => target.got.length === 3)
    expect(target.types()).toEqual(['held', 'published', 'failed'])
    expect(target.got[2]?.body).toEqual({
      type: 'failed',
      timestamp: new Date((NOW - 10) * 1000).toISOString(),
      data: { scenario: 'a', step: 5, operation: 'train', release_id: null, error: 'it broke' },
    })
    for (const { headers, text } of target.got) {
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${text}`
      const signature = createHmac('sha256', Buffer.alloc(32, 7)).update(signed).digest('base64')
      expect(headers['webhook-signature']).toBe(`v1,${signature}`)
      expect(headers['webhook-timestamp']).toBe(String(NOW))
    }
    expect(new Set(target.got.map(({ headers }) => headers['webhook-id'])).size).toBe(3)
  })

  it('is told only of the events that it wants, and of a budget that is used up', async () => {
    const [store, target] = [await storeWith('a'), await startTarget()]
    await open({ store, hooks: [hook(target.url, { events: new Set(['budget']) })], needs: { told: usedUp } })
    await store.scenario('a').commit(rowAt(1))
    await until(() => target.got.length === 1)
    expect(target.got[0]?.body).toMatchObject({ type: 'budget', data: { reason: 'evolution.max_steps (1) is used up' } })
  })

  it('that is new is not told of what was before it', async () => {
    const [store, target] = [await storeWith('a'), await startTarget()]
    await store.scenario('a').commit(rowAt(1))
    await open({ store, hooks: [hook(target.url)] })
    await store.scenario('a').commit(rowAt(2, { outcome: 'failed' }))
    await until(() => target.got.length === 1)
    expect(target.types()).toEqual(['failed'])
  })

  it('that refuses or breaks off is asked again with longer and longer pauses and the same id, and the order stays', async () => {
    const store = await storeWith('a')
    const target = await startTarget([500, 302, (response) => response.destroy(), 429])
    const pauses: number[] = []
    const pause = async (seconds: number): Promise<void> => void pauses.push(seconds)
    const { webhooks, log } = await open({ store, hooks: [hook(target.url)], needs: { pause } })
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed' }))
    await store.scenario('a').commit(rowAt(2))
    await until(() => target.got.length === 6)
    expect(target.types()).toEqual([...Array.from({ length: 5 }, () => 'failed'), 'published'])
    expect(new Set(target.got.slice(0, 5).map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(pauses).toEqual([1, 2, 4, 8])
    expect(log[0]).toContain('the target answered 500')
    await until(() => webhooks.counts()[0]?.waiting === 0)
    expect(webhooks.counts()).toEqual([{ name: 'chat', delivered: 2, failed: 4, waiting: 0, setAside: 0 }])
  })

  it('that hangs holds up neither another target nor the end of the service', async () => {
    const store = await storeWith('a')
    const [hanging, well] = [await startTarget([() => undefined]), await startTarget()]
    const { webhooks } = await open({ store, hooks: [hook(hanging.url, { name: 'slow' }), hook(well.url)] })
    await store.scenario('a').commit(rowAt(1))
    await until(() => well.got.length === 1 && hanging.got.length === 1)
    await webhooks.close()
  })

  it('is told after the next start of what it missed, and once more of what was cut off', async () => {
    const folder = temporaryFolder()
    const store = await storeWith('a', 'b')
    const refusing = await startTarget(Array.from({ length: 100 }, () => 503))
    const { webhooks: first } = await open({ store, hooks: [hook(refusing.url)], folder, needs: { pause: untilAborted } })
    await store.scenario('a').commit(rowAt(1))
    await until(() => refusing.got.length === 1)
    await first.close()
    await store.scenario('b').commit(rowAt(1, { outcome: 'failed' }))
    await store.scenario('new').commit(rowAt(0))
    await store.scenario('new').commit(rowAt(1, { outcome: 'pending' }))
    const target = await startTarget()
    await open({ store, hooks: [hook(target.url)], folder })
    await until(() => target.got.length === 3)
    expect(new Set(target.types())).toEqual(new Set(['failed', 'held', 'published']))
    expect(target.got.map(({ headers }) => headers['webhook-id'])).toContain(refusing.got[0]?.headers['webhook-id'])
    await until(() => keptStep(folder, 'new') === 1)
  })

  it('that refuses one event again and again is told of the others, and of that one later, also after a restart', async () => {
    const folder = temporaryFolder()
    const store = await storeWith('a', 'b')
    const target = await startTarget(Array.from({ length: 6 }, () => 400))
    const first = await open({ store, hooks: [hook(target.url)], folder, needs: { pause: untilLater } })
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed' }))
    await store.scenario('a').commit(rowAt(2))
    await until(() => target.got.length === 7)
    await store.scenario('b').commit(rowAt(1, { outcome: 'pending' }))
    await until(() => target.got.length === 8 && first.webhooks.counts()[0]?.waiting === 0)
    expect(target.types()).toEqual([...Array.from({ length: 6 }, () => 'failed'), 'published', 'held'])
    expect(first.webhooks.counts()).toMatchObject([{ delivered: 2, setAside: 1 }])
    expect(first.log.at(-1)).toContain('webhook_set_aside')
    await first.webhooks.close()
    const second = await open({ store, hooks: [hook(target.url)], folder })
    await until(() => target.got.length === 9 && second.webhooks.counts()[0]?.setAside === 0)
    expect(target.got.at(-1)?.headers['webhook-id']).toBe(target.got[0]?.headers['webhook-id'])
    await until(() => readFileSync(join(folder, 'chat.set-aside.json'), 'utf8') === '[]')
  })

  it('that is busy or away is waited for, and the order stays', async () => {
    const [store, target] = [await storeWith('a'), await startTarget(Array.from({ length: 12 }, () => 503))]
    await open({ store, hooks: [hook(target.url)] })
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed' }))
    await store.scenario('a').commit(rowAt(2))
    await until(() => target.got.length === 14)
    expect(target.types()).toEqual([...Array.from({ length: 13 }, () => 'failed'), 'published'])
  })

  it('whose events that were set aside cannot be read is an error at the start', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'chat.set-aside.json'), '{')
    await expect(open({ store: await storeWith(), hooks: [hook('http://127.0.0.1:1')], folder })).rejects.toThrow(
      'chat.set-aside.json cannot be read',
    )
  })

  it('that takes nothing for three days does not hold up the later events', async () => {
    const [store, target] = [await storeWith('a'), await startTarget([500])]
    const { log } = await open({ store, hooks: [hook(target.url)] })
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed', recorded_at: NOW - 4 * 24 * 3600 }))
    await store.scenario('a').commit(rowAt(2))
    await until(() => target.got.length === 2)
    expect(target.types()).toEqual(['failed', 'published'])
    expect(log).toEqual([expect.stringContaining('webhook_given_up')])
  })

  it('with a scenario that was archived and made again is told of the new one from its first step', async () => {
    const [store, target] = [await storeWith('a'), await startTarget()]
    await open({ store, hooks: [hook(target.url)] })
    await store.scenario('a').commit(rowAt(1))
    await until(() => target.got.length === 1)
    await store.archive('a')
    await store.scenario('a').commit(rowAt(0))
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed' }))
    await until(() => target.got.length === 2)
    expect(target.types()).toEqual(['published', 'failed'])
  })

  it('that answers after its scenario was archived and made again is told of the new one from its first step', async () => {
    const answer = Promise.withResolvers<ServerResponse>()
    const [store, target] = [await storeWith('a'), await startTarget([answer.resolve])]
    const { webhooks } = await open({ store, hooks: [hook(target.url)] })
    await store.scenario('a').commit(rowAt(1))
    const response = await answer.promise
    expect(webhooks.counts()).toMatchObject([{ delivered: 0, waiting: 1 }])
    await store.archive('a')
    await store.scenario('a').commit(rowAt(0))
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed' }))
    response.writeHead(204).end()
    await until(() => target.got.length === 2)
    expect(target.types()).toEqual(['published', 'failed'])
  })

  it('is told of a scenario that was archived and made again while the service was down, also where it has more rows by now', async () => {
    const [store, target, folder] = [await storeWith('a'), await startTarget(), temporaryFolder()]
    const { webhooks } = await open({ store, hooks: [hook(target.url)], folder })
    await store.scenario('a').commit(rowAt(1))
    await until(() => webhooks.counts()[0]?.delivered === 1)
    await webhooks.close()
    await store.archive('a')
    for (const [step, outcome] of (['published', 'failed', 'pending'] as const).entries())
      await store.scenario('a').commit(rowAt(step, { outcome, recorded_at: NOW - 5 }))
    await open({ store, hooks: [hook(target.url)], folder })
    await until(() => target.got.length === 3)
    expect(target.types()).toEqual(['published', 'failed', 'held'])
  })

  it('whose positions cannot be kept is told all the same, each event once, and they are kept again with the next one', async () => {
    const [store, target, folder] = [await storeWith('a'), await startTarget(), temporaryFolder()]
    const { webhooks, log } = await open({ store, hooks: [hook(target.url)], folder })
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'in the way')
    await store.scenario('a').commit(rowAt(1))
    await until(() => log.length > 0 && webhooks.counts()[0]?.waiting === 0)
    rmSync(folder)
    await store.scenario('a').commit(rowAt(2, { outcome: 'failed' }))
    await until(() => webhooks.counts()[0]?.delivered === 2 && webhooks.counts()[0]?.waiting === 0)
    expect(target.types()).toEqual(['published', 'failed'])
    expect(keptStep(folder, 'a')).toBe(2)
  })

  it('does not read a long history without events again after every start', async () => {
    const [store, folder] = [await storeWith('a'), temporaryFolder()]
    const { webhooks } = await open({ store, hooks: [hook('http://127.0.0.1:1')], folder })
    await webhooks.close()
    for (let step = 1; step <= 60; step += 1) await store.scenario('a').commit(rowAt(step, { outcome: 'rejected' }))
    await open({ store, hooks: [hook('http://127.0.0.1:1')], folder })
    await until(() => keptStep(folder, 'a') === 50)
  })

  it('whose positions are broken is an error at the start, not a new beginning', async () => {
    const folder = temporaryFolder()
    for (const broken of ['{', '[]', '{"a":1}', '{"a":{"step":1}}']) {
      writeFileSync(join(folder, 'chat.json'), broken)
      await expect(open({ store: await storeWith(), hooks: [hook('http://127.0.0.1:1')], folder })).rejects.toThrow(
        /chat\.json cannot be read; restore it/,
      )
    }
  })
})

const spender = (spent: number, change: Partial<MoneySpender> = {}): MoneySpender => ({
  kind: 'token',
  name: 'ci',
  key: 'token ci',
  spent,
  limit: 10,
  ...change,
})

describe('money that is spent', () => {
  const NOON = Math.floor(NOW / 86_400) * 86_400 + 43_200
  const told = (spenders: readonly MoneySpender[], now = NOON): readonly unknown[] =>
    spentEvents(spenders, now).map(({ body }) => Object(JSON.parse(body))['data'])

  it('is an event at 80 and at 100 percent, for tokens and scenarios', () => {
    expect(told([spender(7.99)])).toEqual([])
    expect(told([spender(8)])).toMatchObject([
      { token: 'ci', percent: 80, spent: 8, limit: 10, day: new Date(NOON * 1000).toISOString().slice(0, 10) },
    ])
    expect(told([spender(11, { kind: 'scenario', name: 's', key: 'scenario s' })])).toMatchObject([{ scenario: 's', percent: 100 }])
  })

  it('has another id for each day, percent and name, and the same one whoever counts', () => {
    const idsOf = (given: readonly MoneySpender[], now = NOON): readonly string[] => spentEvents(given, now).map(({ id }) => id)
    expect(idsOf([spender(8)])).toEqual(idsOf([spender(9.5)], NOON + 600))
    const all = [
      ...idsOf([spender(8), spender(10), spender(8, { key: 'token other' }), spender(8, { kind: 'scenario' })]),
      ...idsOf([spender(8)], NOON + 86_400),
    ]
    expect(new Set(all).size).toBe(5)
  })

  it('is not told of around midnight, when a clock and a count may be of different days', () => {
    const midnight = Math.floor(NOON / 86_400) * 86_400
    expect([told([spender(10)], midnight + 1), told([spender(10)], midnight + 61)].map((events) => events.length)).toEqual([0, 1])
  })

  it('is told once a day, also after a restart, and what waits when the service ends is told then', async () => {
    const folder = temporaryFolder()
    const [store, target] = [await storeWith(), await startTarget([503])]
    const setting = { store, hooks: [hook(target.url)], folder }
    const first = await open({ ...setting, needs: { clock: () => NOON, pause: untilAborted } })
    first.webhooks.watch(async () => [spender(12)])
    await until(() => target.got.length === 1)
    await first.webhooks.close()
    // Nothing is spent any more, and the event is there.
    const second = await open({ ...setting, needs: { clock: () => NOON } })
    await until(() => second.webhooks.counts()[0]?.delivered === 1)
    expect(target.got[1]?.headers['webhook-id']).toBe(target.got[0]?.headers['webhook-id'])
    expect(target.got[1]?.body).toMatchObject({ type: 'budget', data: { token: 'ci', percent: 100 } })
    await second.webhooks.close()
    const third = await open({ ...setting, needs: { clock: () => NOON + 60 } })
    let looks = 0
    third.webhooks.watch(async () => {
      looks += 1
      return [spender(13)]
    })
    await until(() => looks === 2)
    expect(target.got).toHaveLength(2)
  }, 60_000)

  it('whose events cannot be read is an error at the start', async () => {
    const folder = temporaryFolder()
    for (const broken of ['{', '[]', '{"waiting":[1],"marks":[]}', '{"waiting":[],"marks":[1]}']) {
      writeFileSync(join(folder, 'chat.spent.json'), broken)
      await expect(open({ store: await storeWith(), hooks: [hook('http://127.0.0.1:1')], folder })).rejects.toThrow(
        'webhooks/chat.spent.json cannot be read',
      )
    }
  })
})

describe('several services over one store', () => {
  it('tell a target once, and another one goes on when the first is gone', async () => {
    const folder = temporaryFolder()
    const [store, target] = [await storeWith('a'), await startTarget()]
    const setting = { store, hooks: [hook(target.url)], folder }
    const [one, two] = [await open(setting), await open(setting)]
    expect([await one.webhooks.states(), await two.webhooks.states()]).toMatchObject([[{ isDelivering: true }], [{ isDelivering: false }]])
    for (const step of [1, 2, 3]) await store.scenario('a').commit(rowAt(step))
    await until(() => target.got.length === 3)
    await one.webhooks.close()
    await store.scenario('a').commit(rowAt(4, { outcome: 'failed' }))
    await until(() => target.got.length === 4)
    expect(target.types()).toEqual(['published', 'published', 'published', 'failed'])
    expect(two.webhooks.counts()).toMatchObject([{ delivered: 1 }])
  }, 60_000)

  it('see what was set aside, and have it sent again by the one that delivers', async () => {
    const folder = temporaryFolder()
    const [store, target] = [await storeWith('a'), await startTarget(Array.from({ length: 6 }, () => 400))]
    const setting = { store, hooks: [hook(target.url)], folder, needs: { pause: untilLater } }
    const [one, two] = [await open(setting), await open(setting)]
    await store.scenario('a').commit(rowAt(1))
    await until(async () => (await two.webhooks.states())[0]?.setAside === 1)
    expect(await one.webhooks.states()).toMatchObject([{ setAside: 1 }])
    expect(await two.webhooks.sendAgain()).toBe(1)
    await until(() => target.got.length === 7)
    await until(async () => (await two.webhooks.states())[0]?.setAside === 0)
    expect(await one.webhooks.sendAgain()).toBe(0)
  }, 60_000)

  it('have what was set aside sent again at once where they deliver', async () => {
    const [store, target] = [await storeWith('a'), await startTarget(Array.from({ length: 6 }, () => 400))]
    const { webhooks } = await open({ store, hooks: [hook(target.url)], needs: { pause: untilLater } })
    await store.scenario('a').commit(rowAt(1))
    await until(() => webhooks.counts()[0]?.setAside === 1)
    expect(await webhooks.sendAgain()).toBe(1)
    await until(() => target.got.length === 7 && webhooks.counts()[0]?.setAside === 0)
  })
})

describe('an address of the inside', () => {
  const call = { headers: {}, body: '{}', signal: new AbortController().signal }

  it.each([
    'http://127.0.0.1:9/',
    'http://localhost:9/',
    'http://[::1]:9/',
    'http://[::ffff:127.0.0.1]:9/',
    'http://169.254.169.254/',
    'http://0x7f.1:9/',
  ])('%s is refused unless it is allowed', async (url) => {
    await expect(sendWebhook({ ...call, url, allowsInside: false })).rejects.toThrow('address of the inside')
  })

  it('is reached where it is allowed', async () => {
    const target = await startTarget()
    expect(await sendWebhook({ ...call, url: target.url, allowsInside: true })).toBe(204)
    await expect(sendWebhook({ ...call, url: target.url, allowsInside: false })).rejects.toThrow('address of the inside')
  })

  it('is refused also where a name leads to it, with the key that allows it', async () => {
    const real = dns.lookup
    onTestFinished(() => void Reflect.set(dns, 'lookup', real))
    const answer: LookupAddress[] = [{ address: '10.1.2.3', family: 4 }]
    Reflect.set(dns, 'lookup', (_name: string, _options: unknown, done: (error: null, found: LookupAddress[]) => void) =>
      done(null, answer),
    )
    await expect(sendWebhook({ ...call, url: 'http://rebinds.example/', allowsInside: false })).rejects.toThrow('allow_inside')
  })
})
