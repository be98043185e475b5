/** Episodes on other machines: what a worker is given, what it may do with it, and a whole step that workers play. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { FLEET_PROTOCOL, type JsonObject } from '../../src/contract/index.ts'
import { FleetRefusal, work } from '../../src/worker/index.ts'
import { startCommand, type Command } from '../support/command.ts'
import { argumentsOf, type Settings } from '../support/settings.ts'
import { until } from '../support/wait.ts'
import { wordHarness } from '../support/word-harness.ts'
import { ownWorld, sharedWorld, type Answer, type World } from '../support/world.ts'
import { bearer, expectRefusal, named, OPEN_RECIPE, rowsOf, textAt } from './support/helpers.ts'
import { fresh, memberOf } from './support/trainee.ts'

const TOKEN = 'admin-token-of-the-test'
const ADMIN = bearer(TOKEN)
const CHAT = '/chat/completions'
const here = sharedWorld({ settings: { 'svc.token': TOKEN, recipe: OPEN_RECIPE }, headers: {} })

let count = 0
/** The secret of a new token. */
async function tokenOf(there: World, body: JsonObject): Promise<string> {
  return textAt((await there.post('/svc/tokens', { name: `t${(count += 1)}`, ...body }, ADMIN)).json, 'token')
}

async function loaded(there: World, name: string): Promise<string> {
  await there.post('/v1/chat/completions', { model: 'm', messages: [] }, { ...ADMIN, ...named(name) })
  return `/svc/scenarios/${encodeURIComponent(name)}/evaluation`
}

const EPISODE: JsonObject = {
  plays: 'x',
  priority: 'traffic',
  episode: { task: { name: 'one' } },
  model: { name: 'm', api: 'openai' },
  seconds_max: 60,
}

/** Offers an episode and has a worker of this test take it. */
async function taken(there: World, path: string, plays: string) {
  const playing = there.post(`${path}/episodes`, { ...EPISODE, plays }, ADMIN)
  const worker = await tokenOf(there, { role: 'worker' })
  const { json } = await there.post('/svc/fleet/take', { worker: 'w', plays: [plays], slots: 1 }, bearer(worker))
  const episode = memberOf(json, 'episode')
  const of = (what: string, body: JsonObject, token = worker): Promise<Answer> =>
    there.post(`/svc/fleet/episodes/${textAt(episode, 'lease')}/${what}`, { worker: 'w', ...body }, bearer(token))
  return { playing, worker, episode, of }
}

describe('a worker', () => {
  it('takes an episode, calls the model of its scenario with the key of the lease, and what that took is counted', async () => {
    const path = await loaded(here, 'fleet')
    const { playing, episode, of } = await taken(here, path, 'counted')
    expect(episode).toMatchObject({ scenario: 'fleet', model_path: path, order: { episode: EPISODE['episode'], component: null } })
    const key = bearer(textAt(episode, 'key'))
    const called = await here.post(`${path}/v1${CHAT}`, { model: 'm', messages: [] }, key)
    expect(called.status).toBe(200)
    expect((await of('beat', {})).json).toEqual({ goes_on: true })
    expect((await of('result', { result: { score: 1 } })).json).toEqual({ taken: true })
    const { json } = await playing
    expect(json).toMatchObject({ result: { score: 1 }, calls: [{ input: expect.any(Number), output: expect.any(Number) }] })
    // The key is worth nothing once the lease is over.
    expectRefusal(await here.post(`${path}/v1${CHAT}`, { model: 'm', messages: [] }, key), 401, 'unauthorized')
    expectRefusal(await of('result', { result: { score: 0 } }), 404, 'unknown_lease')
  })

  it('reaches with that key no other scenario, and nothing but the model', async () => {
    const path = await loaded(here, 'mine')
    const other = await loaded(here, 'other')
    const { playing, episode, of } = await taken(here, path, 'bounded')
    const key = bearer(textAt(episode, 'key'))
    expectRefusal(await here.post(`${other}/v1${CHAT}`, { model: 'm', messages: [] }, key), 401, 'other_scenario')
    expectRefusal(await here.post(`/v1${CHAT}`, { model: 'm', messages: [] }, { ...key, ...named('mine') }), 401, 'unauthorized')
    expectRefusal(await here.get('/svc/status', key), 401, 'unauthorized')
    expectRefusal(await here.post(`${other}/episodes`, EPISODE, key), 401, 'other_scenario')
    expectRefusal(await here.post(`${path}/episodes`, EPISODE, key), 401, 'role_forbids')
    await of('result', { result: {} })
    await playing
  })

  it('answers for its own lease alone, whatever name it gives itself', async () => {
    const path = await loaded(here, 'leases')
    const { playing, of } = await taken(here, path, 'own')
    const stranger = await tokenOf(here, { role: 'worker' })
    expectRefusal(await of('result', { result: { score: 0 } }, stranger), 404, 'unknown_lease')
    expect((await of('beat', {}, stranger)).json).toEqual({ goes_on: false })
    await of('result', { result: { score: 1 } })
    expect((await playing).json).toMatchObject({ result: { score: 1 } })
  })

  it('gets the episodes of the scenarios of its token alone, and its token opens nothing else', async () => {
    const path = await loaded(here, 'closed')
    const playing = here.post(`${path}/episodes`, { ...EPISODE, plays: 'scoped' }, ADMIN)
    const other = await tokenOf(here, { role: 'worker', scenarios: ['elsewhere'] })
    const own = await tokenOf(here, { role: 'worker', scenarios: ['closed'] })
    // It waits, and gets nothing.
    void here.post('/svc/fleet/take', { worker: 'w', plays: ['scoped'], slots: 1 }, bearer(other)).catch(() => undefined)
    const { json } = await here.post('/svc/fleet/take', { worker: 'w', plays: ['scoped'], slots: 1 }, bearer(own))
    const lease = textAt(memberOf(json, 'episode'), 'lease')
    await here.post(`/svc/fleet/episodes/${lease}/result`, { worker: 'w', result: {} }, bearer(own))
    expect((await playing).status).toBe(200)
    expectRefusal(await here.get('/svc/fleet', bearer(own)), 401, 'role_forbids')
  })

  it.each<[title: string, body: JsonObject]>([
    ['without a name', { plays: ['x'], slots: 1 }],
    ['that plays a thousand things', { worker: 'w', plays: Array.from({ length: 1000 }, (_, at) => `${at}`), slots: 1 }],
    ['with no slots', { worker: 'w', plays: ['x'], slots: 0 }],
    ['with a million slots', { worker: 'w', plays: ['x'], slots: 1_000_000 }],
  ])('%s is refused', async (_title, body) => {
    expectRefusal(await here.post('/svc/fleet/take', body, ADMIN), 400, 'invalid_field')
  })
})

const played = async (there: World, headers = {}): Promise<readonly JsonObject[]> =>
  rowsOf(await there.get('/svc/fleet', headers), 'workers')

/** `svc worker` with the settings of the service. */
function startWorker(there: World, settings: Settings, name: string): Command {
  const run = startCommand(['worker', '--url', there.address, '--slots', '2', '--name', name, '--json', ...argumentsOf(settings)])
  onTestFinished(() => run.signal('SIGKILL'))
  return run
}

it('a step is played by workers, and by them alone; one that is told to stop ends when it has nothing left', async () => {
  const there = await ownWorld({ backend: 'sqlite' })
  const settings = wordHarness(there.directory)
  await there.restart({ ...settings, 'evolution.episode_host': 'workers', 'evolution.episode_workers': 4 })
  const s = await fresh(there)
  const id = await s.ask('say magic')
  await s.reached(id, 'evaluating')
  expect((await there.get('/svc/fleet')).json).toMatchObject({ workers: [], running: 0 })
  await until(async () => Number((await there.get('/svc/fleet')).json['waiting']) > 0)
  // One that has another configuration gets nothing.
  const other = startWorker(there, { ...settings, 'evolution.episode_timeout_s': 7 }, 'another')
  const run = startWorker(there, settings, 'first')
  await s.consumer(id)
  expect(await s.release()).toMatchObject({ result: 'published' })
  const workers = await played(there)
  expect(workers.find(({ name }) => name === 'first')?.['played']).toBeGreaterThan(0)
  expect(workers.find(({ name }) => name === 'another')?.['played'] ?? 0).toBe(0)
  const events = run.out
    .trim()
    .split('\n')
    .map((line): JsonObject => JSON.parse(line))
  expect(events.filter(({ event }) => event === 'played')).toContainEqual(
    expect.objectContaining({ scenario: s.name, task: 'word', side: 'candidate', score: 1 }),
  )
  run.signal('SIGTERM')
  other.signal('SIGTERM')
  expect(await run.ended).toMatchObject({ code: 0 })
}, 120_000)

/** A worker of this test that plays what `play` says, until it is drained. */
function workerOf(name: string, plays: string, play: () => Promise<object>) {
  const draining = new AbortController()
  const ask = async (path: string, body: object, signal: AbortSignal): Promise<unknown> => {
    const response = await fetch(`${here.address}${path}`, {
      method: 'POST',
      headers: { ...ADMIN, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
    if (response.status !== 200) throw new FleetRefusal(response.status, await response.text())
    return response.json()
  }
  const order = { name, slots: 1, players: [{ plays, play }], service: { url: here.address, ask }, tell: () => undefined }
  const over = work({ ...order, draining: draining.signal, stopping: new AbortController().signal })
  return { over, drain: () => draining.abort() }
}

it('an upgrade loses no episode: an old worker drains, a newer one joins, and each episode is played once', async () => {
  const path = await loaded(here, 'upgraded')
  const offered = Array.from({ length: 4 }, (_, at) =>
    here.post(`${path}/episodes`, { ...EPISODE, plays: 'upgraded', episode: { at } }, ADMIN),
  )
  const [began, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let byOld = 0
  const old = workerOf('old', 'upgraded', async () => {
    byOld += 1
    began.resolve()
    await gate.promise
    return { score: 1 }
  })
  await began.promise
  old.drain()
  let byNew = 0
  const young = workerOf('new', 'upgraded', async () => {
    byNew += 1
    return { score: 1 }
  })
  // The new one plays all that waits, while the old one still plays its own.
  await until(() => byNew === 3)
  gate.resolve()
  await old.over
  const answers = await Promise.all(offered)
  expect(answers.filter(({ json }) => json['worker'] === 'old')).toHaveLength(1)
  expect(answers.filter(({ json }) => json['worker'] === 'new')).toHaveLength(3)
  expect([byOld, byNew]).toEqual([1, 3])
  const workers = (await played(here, ADMIN)).filter(({ name }) => name === 'old' || name === 'new')
  expect(workers.map(({ lost }) => lost)).toEqual([0, 0])
  young.drain()
  await young.over
})

it('a worker of another version is told so, gets nothing, and may still answer what it plays', async () => {
  const path = await loaded(here, 'versions')
  const { playing, of, worker } = await taken(here, path, 'versions')
  const newer = { worker: 'w', plays: ['versions'], slots: 1, protocol: FLEET_PROTOCOL + 1 }
  const message = /version 2 of the routes of workers, and the service version 1: install the version of svc that the service has/
  expectRefusal(await here.post('/svc/fleet/take', newer, bearer(worker)), 409, 'worker_version', message)
  expect((await of('result', { result: { score: 1 } })).json).toEqual({ taken: true })
  await playing
})

it('a worker whose token has another role is refused, in words', async () => {
  const read = await tokenOf(here, { role: 'read' })
  const settings = wordHarness(here.directory)
  const run = startCommand(['worker', '--url', here.address, ...argumentsOf(settings)], { SVC_TOKEN: read })
  const { code, err } = await run.ended
  expect([code, err]).toEqual([1, expect.stringContaining('has the role read, which may not do this')])
}, 60_000)
