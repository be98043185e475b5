/** Workers of several gateways over one PostgreSQL: an episode that a step of one offers is played by a worker of another. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { placeIn, startChild } from '../crash/child.ts'
import { bearer, expectRefusal, named, OPEN_RECIPE, textAt } from '../spec/support/helpers.ts'
import { memberOf } from '../spec/support/trainee.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { BUCKET, startS3, type S3Server } from '../support/s3.ts'
import { dataPlaceIn, settingsOf, type Settings } from '../support/settings.ts'
import { until } from '../support/wait.ts'
import { ownWorld, send, type Answer, type World } from '../support/world.ts'

const ADMIN = bearer('admin-token-of-the-test')
const EPISODE = { priority: 'traffic', seconds_max: 600, model: { name: 'm', api: 'openai' } }
const OFFER = '/svc/scenarios/s/evaluation/episodes'
const CHAT = '/svc/scenarios/s/evaluation/v1/chat/completions'

let database: PostgresServer
let s3: S3Server
beforeAll(async () => {
  ;[database, s3] = await Promise.all([startPostgres({ settings: { fsync: 'off' } }), startS3()])
})
afterAll(() => {
  database.stop()
  s3.stop()
})

let deployments = 0
function newDeployment(): Settings {
  deployments += 1
  return {
    'svc.token': 'admin-token-of-the-test',
    recipe: OPEN_RECIPE,
    'storage.record_backend': 'postgres',
    'storage.record_database_url': database.url,
    'storage.record_settings.schema': `fleet_${deployments}`,
    'storage.record_settings.connections': 3,
    'storage.artifact_repository': `s3://${BUCKET}/fleet-${deployments}`,
    ...s3.settings,
  }
}

const gateway = (settings: Settings): Promise<World> =>
  ownWorld({ settings: { ...settings, 'storage.agent_record_dir': join(temporaryFolder(), 'records') }, headers: {} })

async function two(): Promise<readonly [World, World]> {
  const settings = newDeployment()
  const [a, b] = [await gateway(settings), await gateway(settings)]
  await b.post('/v1/chat/completions', { model: 'm', messages: [] }, { ...ADMIN, ...named('s') })
  return [a, b]
}

const offer = (at: World, plays: string, more: JsonObject = {}): Promise<Answer> =>
  at.post(OFFER, { ...EPISODE, plays, episode: { task: { name: plays } }, ...more }, ADMIN)

async function take(at: World, worker: string, plays: string, token = ADMIN): Promise<JsonObject> {
  const { json } = await at.post('/svc/fleet/take', { worker, plays: [plays], slots: 1 }, token)
  return memberOf(json, 'episode')
}

const of = (at: World, episode: JsonObject, what: 'beat' | 'result', body: JsonObject): Promise<Answer> =>
  at.post(`/svc/fleet/episodes/${textAt(episode, 'lease')}/${what}`, body, ADMIN)

it('a worker of one gateway plays what a step of the other offers, and what its calls took comes back', { timeout: 120_000 }, async () => {
  const [a, b] = await two()
  const playing = offer(b, 'x')
  const episode = await take(a, 'w', 'x')
  const key = bearer(textAt(episode, 'key'))
  // The model of its scenario, at either gateway; the first never loaded the scenario before.
  for (const at of [a, b]) expect((await at.post(CHAT, { model: 'm', messages: [] }, key)).status).toBe(200)
  expect((await of(a, episode, 'beat', { worker: 'w' })).json).toEqual({ goes_on: true })
  expect((await of(b, episode, 'result', { worker: 'w', result: { score: 1 } })).json).toEqual({ taken: true })
  expect((await playing).json).toMatchObject({ worker: 'w', result: { score: 1 }, calls: [{}, {}] })
  // Both say the same of the fleet, and the key is worth nothing at either.
  for (const at of [a, b]) {
    expect((await at.get('/svc/fleet', ADMIN)).json).toMatchObject({ workers: [{ name: 'w', played: 1 }], waiting: 0, running: 0 })
    expectRefusal(await at.post(CHAT, { model: 'm', messages: [] }, key), 401, 'unauthorized')
  }
})

it('requests go first and scenarios take turns, whichever gateway offers them', { timeout: 120_000 }, async () => {
  const [a, b] = await two()
  await a.post('/v1/chat/completions', { model: 'm', messages: [] }, { ...ADMIN, ...named('t') })
  const waiting = async (count: number): Promise<void> => until(async () => (await a.get('/svc/fleet', ADMIN)).json['waiting'] === count)
  const offers = [
    () => offer(b, 'x', { episode: { at: 1 } }),
    () => offer(b, 'x', { episode: { at: 2 } }),
    () => a.post(OFFER.replace('/s/', '/t/'), { ...EPISODE, plays: 'x', episode: { at: 3 } }, ADMIN),
    () => offer(b, 'x', { episode: { at: 4 }, priority: 'request' }),
  ]
  const playing: Promise<Answer>[] = []
  for (const [at, each] of offers.entries()) {
    playing.push(each())
    await waiting(at + 1)
  }
  const order: unknown[] = []
  for (const _ of playing) {
    const episode = await take(order.length % 2 === 0 ? a : b, 'w', 'x')
    order.push(memberOf(memberOf(episode, 'order'), 'episode')['at'])
  }
  expect(order).toEqual([4, 3, 1, 2])
})

it(
  'a worker that falls silent loses its episode to one of the other gateway, and one that is not wanted is told so',
  { timeout: 120_000 },
  async () => {
    const [a, b] = await two()
    const playing = offer(b, 'x')
    const lost = await take(a, 'lost', 'x')
    const again = await take(b, 'second', 'x')
    expect((await of(a, lost, 'beat', { worker: 'lost' })).json).toEqual({ goes_on: false })
    expectRefusal(await of(a, lost, 'result', { worker: 'lost', result: { score: 0 } }), 404, 'unknown_lease')
    await of(a, again, 'result', { worker: 'second', result: { score: 1 } })
    expect((await playing).json).toMatchObject({ worker: 'second', result: { score: 1 } })
    const leaving = new AbortController()
    const cancelled = fetch(`${b.address}${OFFER}`, {
      method: 'POST',
      headers: { ...ADMIN, 'content-type': 'application/json' },
      body: JSON.stringify({ ...EPISODE, plays: 'y', episode: {} }),
      signal: leaving.signal,
    }).catch(() => null)
    const unwanted = await take(a, 'w', 'y')
    leaving.abort()
    await cancelled
    await until(async () => (await of(a, unwanted, 'beat', { worker: 'w' })).json['goes_on'] === false)
  },
)

it('an episode has one budget of calls at both gateways, and a cancelled one is told to the next step', { timeout: 120_000 }, async () => {
  const [a, b] = await two()
  const leaving = new AbortController()
  const cancelled = fetch(`${b.address}${OFFER}`, {
    method: 'POST',
    headers: { ...ADMIN, 'content-type': 'application/json' },
    body: JSON.stringify({ ...EPISODE, plays: 'x', episode: {}, calls_max: 3 }),
    signal: leaving.signal,
  }).catch(() => null)
  const episode = await take(a, 'w', 'x')
  const key = bearer(textAt(episode, 'key'))
  const ask = (at: World): Promise<Answer> => at.post(CHAT, { model: 'm', messages: [] }, key)
  for (const at of [a, b, a]) expect((await ask(at)).status).toBe(200)
  const counted = `SELECT count(*) FROM fleet_${deployments}.fleet_call`
  await until(async () => database.sql(counted) === '3')
  for (const at of [a, b]) expectRefusal(await ask(at), 429, 'episode_limit')
  leaving.abort()
  await cancelled
  await until(async () => (await of(a, episode, 'beat', { worker: 'w' })).json['goes_on'] === false)
  // Those of the cancelled one come with the next answer, at whichever gateway, and once.
  for (const [at, calls] of [
    [a, 3],
    [b, 0],
  ] as const) {
    const playing = offer(at, 'x')
    await of(b, await take(b, 'w', 'x'), 'result', { worker: 'w', result: { score: 1 } })
    expect((await playing).json['calls']).toHaveLength(calls)
  }
})

it(
  'a gateway that is killed loses no episode: its worker plays on, and whoever goes on with the step has the result',
  { timeout: 120_000 },
  async () => {
    const settings = newDeployment()
    const a = await gateway(settings)
    const killed = startChild(placeIn(temporaryFolder()), {
      settings: { ...settingsOf(dataPlaceIn(temporaryFolder()), a.upstream.url), ...settings },
    })
    onTestFinished(() => killed.kill('family'))
    const address = (await killed.address) ?? ''
    const ask = (path: string, body: JsonObject, more = {}): Promise<Answer> =>
      send(address, 'POST', path, { headers: { ...ADMIN, ...more }, body })
    await ask('/v1/chat/completions', { model: 'm', messages: [] }, named('s'))
    await until(async () => (await a.get('/svc/scenarios/s/contract', ADMIN)).status === 200)
    void ask(OFFER, { ...EPISODE, plays: 'x', episode: { task: { name: 'x' } } }).catch(() => undefined)
    const episode = await take(a, 'w', 'x')
    killed.kill('service')
    await killed.ended
    await of(a, episode, 'result', { worker: 'w', result: { score: 1 } })
    // The same episode again, once the gateway counts as gone.
    const there = `SELECT count(*) FROM fleet_${deployments}.fleet WHERE kind = 'gateways' AND at >= extract(epoch FROM now()) * 1000 - 10000`
    await until(async () => database.sql(there) === '0')
    expect((await offer(a, 'x')).json).toMatchObject({ worker: 'w', result: { score: 1 } })
    expect((await a.get('/svc/fleet', ADMIN)).json).toMatchObject({ workers: [{ played: 1 }], waiting: 0, running: 0 })
  },
)
