/** A configuration that is read again while the service runs: in every listener thread, and without cutting a stream. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig, type LoadedConfig } from '../../src/config/index.ts'
import type { JsonObject } from '../../src/contract/index.ts'
import { startService } from '../../src/main.ts'
import { sharedFolder } from '../support/folder.ts'
import { dataPlaceIn, settingsOf } from '../support/settings.ts'
import { answerPlainly, beginFrames, chatFrames, startUpstream, type Upstream } from '../support/upstream.ts'
import { shared } from '../support/world.ts'

const LISTENERS = process.platform === 'linux' ? 2 : 1
/** So many at once that every thread has some. */
const MANY = 24
const folder = sharedFolder()

async function open() {
  const place = join(folder, 'service')
  mkdirSync(place)
  const [first, second] = [await startUpstream(), await startUpstream()]
  const file = join(place, 'svc.yaml')
  const usual: JsonObject = {
    inference: { upstreams: { main: { url: first.url, api_key: 'key-of-first' } } },
    limits: { scenarios: { measured: { requests_per_minute: 5 } } },
  }
  const write = (changed: JsonObject): void => writeFileSync(file, JSON.stringify({ ...usual, ...changed }))
  const steps = { 'evolution.step_record_dir': join(place, 'steps'), 'evolution.proposals_dir': join(place, 'proposals') }
  const settings = {
    ...settingsOf(dataPlaceIn(place), first.url),
    ...steps,
    'svc.listeners': LISTENERS,
    'storage.record_backend': 'sqlite',
  }
  const given = Object.entries(settings)
    .filter(([key]) => !key.startsWith('inference.upstream'))
    .map(([key, value]) => ({ path: key.split('.'), value, origin: 'command line' as const }))
  const read = (): Promise<LoadedConfig> => loadConfig({ file, environment: {}, commandLine: { given, problems: [] } })
  write({})
  const log: JsonObject[] = []
  const service = await startService(await read(), {
    log: { write: (level, event, fields) => void log.push({ level, event, ...fields }), flush: () => undefined },
  })
  const ask = (scenario: string, body: JsonObject = {}): Promise<Response> =>
    fetch(`${service.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-svc-scenario': scenario, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ model: 'm', messages: [], ...body }),
    })
  const get = async (path: string): Promise<string> => (await fetch(`${service.address}${path}`)).text()
  const statuses = async (scenario: string): Promise<readonly number[]> =>
    (await Promise.all(Array.from({ length: MANY }, () => ask(scenario)))).map(({ status }) => status)
  /** The line of the log that says what was done. */
  const reload = async (changed: JsonObject): Promise<JsonObject> => {
    write(changed)
    const before = log.length
    await service.reload(read)
    return log.slice(before).find(({ event }) => event === 'reloaded' || event === 'reload_failed') ?? {}
  }
  const close = async (): Promise<void> => {
    await service.close()
    await Promise.all([first.close(), second.close()])
  }
  return { first, second, log, file, ask, get, statuses, reload, close }
}

const keysAt = ({ received }: Upstream): readonly unknown[] => [...new Set(received.map(({ headers }) => headers.authorization))]

describe('a running service takes over', () => {
  const here = shared(open)
  const toSecond = (): JsonObject => ({ inference: { upstreams: { other: { url: here.second.url, api_key: 'key-of-second' } } } })

  it('other upstreams and another mode of recording, while a stream goes on to its end and is kept as it began', async () => {
    expect(new Set(await here.statuses('streams'))).toEqual(new Set([200]))
    expect(keysAt(here.first)).toEqual(['Bearer key-of-first'])
    const [gate, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    here.first.answer(async (_received, response) => {
      beginFrames(response, chatFrames.slice(0, 2))
      begun.resolve()
      await gate.promise
      response.end(chatFrames.slice(2).join(''))
    })
    const streamed = here.ask('streams', { stream: true })
    await begun.promise
    const asked = here.first.received.length
    expect(await here.reload({ ...toSecond(), recording: { mode: 'off' } })).toMatchObject({
      level: 'info',
      event: 'reloaded',
      applied: ['inference.upstreams', 'recording.mode'],
      needs_restart: [],
    })
    expect(new Set(await here.statuses('streams'))).toEqual(new Set([200]))
    expect([here.first.received.length, here.second.received.length]).toEqual([asked, MANY])
    expect(keysAt(here.second)).toEqual(['Bearer key-of-second'])
    gate.resolve()
    const text = await (await streamed).text()
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    const kept: { readonly records: readonly unknown[] } = JSON.parse(await here.get('/svc/scenarios/streams/records?limit=100'))
    expect(kept.records).toHaveLength(MANY + 1)
    expect(JSON.stringify(kept.records)).toContain('"stream":true')
    here.first.answer(answerPlainly)
  })

  it('limits and prices, counted by all threads together, and what was counted stays', async () => {
    await here.reload({})
    expect((await here.statuses('measured')).filter((status) => status === 200)).toHaveLength(5)
    const more = {
      limits: { scenarios: { measured: { requests_per_minute: 8 }, dear: { cost_per_day: 1 } }, prices: { m: { input: 1, output: 1 } } },
    }
    expect(await here.reload(more)).toMatchObject({ applied: ['limits.scenarios', 'limits.prices'] })
    expect((await here.statuses('measured')).filter((status) => status === 200)).toHaveLength(3)
    expect((await here.statuses('dear')).filter((status) => status === 200)).toHaveLength(MANY)
    const million = 1_000_000
    await here.reload({ limits: { ...more.limits, prices: { m: { input: million, output: million } } } })
    await here.ask('dear')
    expect((await here.ask('dear')).status).toBe(429)
    expect(await here.reload({ limits: {} })).toMatchObject({ applied: ['limits.scenarios', 'limits.prices'] })
    for (const scenario of ['measured', 'dear']) expect(new Set(await here.statuses(scenario))).toEqual(new Set([200]))
  })

  it('targets of webhooks', async () => {
    const target = { url: 'https://hooks.example.com', secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` }
    expect(await here.reload({ webhooks: { team: target } })).toMatchObject({ applied: expect.arrayContaining(['webhooks.team']) })
    expect(await here.get('/metrics')).toContain('webhook="team"')
    expect(await here.reload({})).toMatchObject({ applied: ['webhooks.team'] })
    expect(await here.get('/metrics')).not.toContain('webhook="team"')
  })

  it('one address in place of several, and several again', async () => {
    const counted = here.second.received.length
    const single = { inference: { upstream_url: here.second.url, upstream_api_key: 'key-of-one' } }
    expect(await here.reload(single)).toMatchObject({ needs_restart: [] })
    expect(new Set(await here.statuses('streams'))).toEqual(new Set([200]))
    expect(here.second.received.slice(counted).map(({ headers }) => headers.authorization)).toEqual(Array(MANY).fill('Bearer key-of-one'))
    await here.reload(toSecond())
    expect((await here.ask('streams')).status).toBe(200)
    expect(here.second.received.at(-1)?.headers.authorization).toBe('Bearer key-of-second')
    await here.reload({})
  })

  it.each<[string, JsonObject, RegExp]>([
    ['an upstream without an address', { inference: { upstreams: { main: {} } } }, /inference\.upstreams\.main\.url/],
    ['a limit of money without a price', { limits: { scenario: { cost_per_day: 1 } } }, /limits\.prices/],
    ['a limit that is no number', { limits: { scenario: { requests_per_minute: 'many' } } }, /limits\.scenario\.requests_per_minute/],
  ])('nothing of a file with %s, and says why', async (_what, changed, words) => {
    const line = await here.reload({ ...toSecond(), ...changed })
    expect(line).toMatchObject({ level: 'error', event: 'reload_failed', message: 'the configuration stays as it was' })
    expect(JSON.stringify(line['problems'])).toMatch(words)
    const asked = here.first.received.length
    expect((await here.ask('streams')).status).toBe(200)
    expect(here.first.received).toHaveLength(asked + 1)
  })

  it('no redactor and no TLS file of another name: those need a restart', async () => {
    const main = { url: here.first.url, api_key: 'key-of-first', tls: { ca_file: '/new.pem' } }
    expect(await here.reload({ inference: { upstreams: { main } }, recording: { redactor: './mine.js' } })).toMatchObject({
      level: 'warn',
      applied: [],
      needs_restart: ['inference.upstreams', 'recording.redactor'],
    })
    expect((await here.ask('streams')).status).toBe(200)
  })
})
