/** Status routes: readiness, the status object, metrics, and the table of routes. */
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/http/routes.ts'
import { sharedWorld } from '../support/world.ts'
import { until } from '../support/wait.ts'
import { bearer, errorOf, importInference, LEDGER_RECIPE, named, textAt } from './support/helpers.ts'
import { fresh, memberOf } from './support/trainee.ts'

const here = sharedWorld()
beforeAll(async () => {
  await importInference(here, 'seen', 'a')
})

it('readiness is {ok: true}, token or not [routes.healthz]', async () => {
  const answer = await here.get('/healthz')
  expect(answer).toMatchObject({ status: 200, json: { ok: true } })
})

describe('the status', () => {
  it('has the fields of the interface and the storage beside them [status.fields]', async () => {
    const answer = await here.get('/svc/status')
    expect(answer.json).toMatchObject({
      error: null,
      preload_errors: {},
      last_drain_at: null,
      training_job: null,
      storage: { records: 1, lost_records: 0, lost_bytes: 0 },
    })
    expect(answer.json['serving']).toBeTypeOf('object')
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  it('shows each loaded scenario [status.scenario]', async () => {
    expect((await here.get('/svc/status')).json['scenarios']).toEqual({
      seen: {
        scenario_step: 0,
        last_committed_step: null,
        current_runtime_load_id: null,
        checkpoint_storage: null,
        batch_ready: false,
        training_mode: 'auto',
        processor: {},
        inference_admission: null,
      },
    })
  })
})

describe('the status of a scenario that trains', () => {
  const there = sharedWorld({ settings: { recipe: LEDGER_RECIPE } })

  it('shows what is ready, what is queued and what was set aside, and the outcome of a step [status.training]', async () => {
    const s = await fresh(there, 'manual')
    const { open } = await s.paused()
    await s.ask('skip')
    await s.report({ score: 1 })
    expect(await s.status()).toMatchObject({ scenario_step: 0, last_committed_step: null, batch_ready: true, training_mode: 'manual' })
    await open()
    await s.row(2)
    await s.useMode('auto')
    await until(async () => Object.keys(memberOf(await s.processor(), 'set_aside')).length > 0)
    const status = await s.status()
    expect(status).toMatchObject({ scenario_step: 2, batch_ready: false, training_mode: 'auto' })
    expect(memberOf(status, 'last_committed_step')).toMatchObject({
      step: 2,
      recorded_at: expect.any(Number),
      metrics: { skipped: 'told to skip' },
    })
    expect(status['processor']).toEqual({
      batch_size: 1,
      buffered_units: 0,
      buffered_requests: 0,
      pending_instructions: 0,
      set_aside: { 'quotes no receipt': 1 },
    })
    expect(status).not.toHaveProperty('components')
  })

  it('shows when a worker last found nothing left to do, and that no weight job is out [status.training] [status.fields]', async () => {
    const s = await fresh(there)
    await s.reported()
    await s.row(1)
    await until(async () => typeof (await there.get('/svc/status')).json['last_drain_at'] === 'number')
    expect((await there.get('/svc/status')).json).toMatchObject({ error: null, training_job: null })
  })

  it('counts a rollback as a step, and keeps the last step that trained [status.training]', async () => {
    const s = await fresh(there)
    const created = textAt(await s.head(), 'release_id')
    await s.reported()
    await s.row(1)
    await s.move('rollback', created)
    expect(await s.status()).toMatchObject({ scenario_step: 2, last_committed_step: { step: 1 } })
  })

  it('is the contract of its processor too, live [scenario.contract]', async () => {
    const s = await fresh(there, 'manual')
    expect((await there.get(`/svc/scenarios/${s.name}/contract`)).json).toEqual({
      scenario: s.name,
      processor: 'ledger',
      required_request_types: ['inference', 'report'],
      training_mode: 'manual',
      status: await s.processor(),
    })
  })
})

const closed = sharedWorld({ settings: { 'svc.token': 'a-token-to-hide' } })

it('the configuration is shown as it was read, with where each setting comes from, and no secret [config.shown]', async () => {
  const { json, text, headers } = await closed.get('/svc/configuration', bearer('a-token-to-hide'))
  expect(json).toMatchObject({
    keys: expect.arrayContaining([
      { key: 'svc.token', value: '***', origin: 'command line' },
      { key: 'evolution.max_steps', value: 0, origin: 'default' },
    ]),
    recipes: [{ name: 'record-only' }],
    upstream: { runtime: 'provider' },
  })
  expect(text).not.toContain('a-token-to-hide')
  expect(headers['cache-control']).toBe('no-store')
  // Tasks may stand in it, which no session of an agent may read.
  const ofAgent = await closed.get('/svc/configuration', { ...bearer('a-token-to-hide'), 'x-svc-tag-session': 'a' })
  expect(ofAgent.status).toBe(401)
})

it('a scenario may have a name that objects know', async () => {
  await importInference(here, '__proto__', 'a')
  expect((await here.get('/svc/status')).text).toContain('"__proto__":{"scenario_step":0')
  expect((await here.ask('DELETE', '/svc/scenarios/__proto__')).status).toBe(200)
})

it('the metrics count the requests of each route by its pattern, never by its path', async () => {
  const sample = /svc_request_seconds_count\{route="\/svc\/scenarios\/:scenario\/contract",status="200"\} (\d+)/
  const count = async (): Promise<number> => Number(sample.exec((await here.get('/metrics')).text)?.[1])
  await here.get('/svc/scenarios/seen/contract')
  const before = await count()
  await here.get('/svc/scenarios/seen/contract')
  expect(await count()).toBe(before + 1)
  expect((await here.get('/metrics')).text).not.toContain('/svc/scenarios/seen')
})

/** Spelt out here once more, so that a route that goes missing is missed. */
const EMBEDDED = ['chat/completions', 'responses', 'messages', 'messages/count_tokens']
/** Beside them, where SDKs ask. */
const OF_SDKS = ['responses/input_tokens', 'responses/compact']
const INTERFACE = [
  'GET /healthz',
  ...EMBEDDED.map((route) => `POST /v1/${route}`),
  ...EMBEDDED.map((route) => `POST /svc/scenarios/:scenario/evaluation/v1/${route}`),
  ...EMBEDDED.map((route) => `POST /svc/scenarios/:scenario/components/:component/evaluation/v1/${route}`),
  ...['images', 'embeddings', 'audio/speech', 'decisions'].map((route) => `POST /v1/${route}`),
  ...['records', 'records/batch', 'report', 'train', 'scenarios', 'harness/proposals'].map((route) => `POST /svc/${route}`),
  ...['update', 'rollback', 'promote', 'withdraw', 'reject', 'comment'].map((route) => `POST /svc/scenarios/:scenario/${route}`),
  ...['contract', 'records', 'records/:record_id', 'search', 'commits', 'releases'].map((route) => `GET /svc/scenarios/:scenario/${route}`),
  ...['scenarios', 'status', 'harness', 'harness/releases', 'harness/install', 'harness/adapters'].map((route) => `GET /svc/${route}`),
  ...['releases/:step/page', 'releases/:step/records'].map((route) => `GET /svc/harness/${route}`),
  ...['requests/:record_id/page', 'requests/:record_id/progress'].map((route) => `GET /svc/harness/${route}`),
  'DELETE /svc/scenarios/:scenario',
]
/** Beyond the formats and the routes of the interface. */
const BEYOND = ['', '/svc/scenarios/:scenario/evaluation', '/svc/scenarios/:scenario/components/:component/evaluation'].flatMap(
  (prefix) => [
    ...['generateContent', 'streamGenerateContent', 'countTokens'].map((call) => `POST ${prefix}/v1beta/models/:model:${call}`),
    ...OF_SDKS.map((route) => `POST ${prefix}/v1/${route}`),
  ],
)
/** Beside the interface's table: what the decisions add, running steps, tasks, tokens, the audit, the configuration, the numbers for a monitor, this table for programs, and the console's files. */
const BESIDE = [
  '/v1/models',
  '/v1/models/:model',
  '/v1/responses',
  '/svc/harness/install/line',
  '/svc/harness/progress',
  '/svc/harness/progress/records',
  '/svc/harness/tasks',
  '/svc/harness/tasks/:task',
  '/svc/tokens',
  '/svc/audit',
  '/svc/sign-in',
  '/svc/sign-in/start',
  '/svc/sign-in/callback',
  '/svc/caller',
  '/svc/configuration',
  '/svc/fleet',
  '/svc/scenarios/:scenario/evaluation/episodes',
  '/svc/scenarios/:scenario/components/:component/evaluation/episodes',
  '/metrics',
  '/openapi.json',
  '/console',
  '/console/',
  '/console/:file',
].map((path) => `GET ${path}`)
const CHANGING = [
  'POST /v1/completions',
  'POST /v1/images/generations',
  'POST /svc/harness/tasks',
  'POST /svc/harness/tasks/:task',
  'POST /svc/tokens',
  'POST /svc/tokens/:token_name/limits',
  'POST /svc/tokens/:token_name/rotate',
  'DELETE /svc/tokens/:token_name',
  'POST /svc/webhooks/retry',
  'POST /svc/forget',
  'DELETE /svc/sign-in',
  'POST /svc/fleet/take',
  'POST /svc/fleet/episodes/:lease/beat',
  'POST /svc/fleet/episodes/:lease/result',
  'POST /svc/scenarios/:scenario/evaluation/episodes',
  'POST /svc/scenarios/:scenario/components/:component/evaluation/episodes',
]

describe('the route table', () => {
  it('holds every route of the interface, what the decisions add, and nothing else [routes.table]', () => {
    expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      [...INTERFACE, ...BEYOND, ...BESIDE, ...CHANGING].toSorted(),
    )
  })

  it.each([...INTERFACE, ...BEYOND])('%s is answered by a handler of its own [routes.table]', async (route) => {
    const [method = '', path = ''] = route.split(' ')
    const answer = await here.ask(method, path.replaceAll(/\/:\w+/g, '/spare'), {
      headers: { ...named('table'), accept: 'application/json' },
      ...(method === 'POST' && { body: '{}' }),
    })
    expect(['unknown_route', 'method_not_allowed', 'internal_error']).not.toContain(errorOf(answer)['code'])
  })

  it('keeps /v1 for the formats of providers and no version for our own [routes.version-prefix]', () => {
    const others = routes
      .map(({ path }) => path)
      .filter((path) => !/^\/(v1(beta)?\/|svc\/|healthz$|metrics$|openapi\.json$|console(\/|$))/.test(path))
    expect(others).toEqual([])
    const versioned = routes.filter(({ path }) => path.startsWith('/svc/') && path.includes('/v1/') && !path.includes('/evaluation/v1/'))
    expect(versioned).toEqual([])
  })

  it('takes the scenario from the path where it stands there, whatever the header says [routes.scenario-path]', async () => {
    await importInference(here, 'other', 'b')
    expect((await here.get('/svc/scenarios/seen/records', named('other'))).json).toMatchObject({ scenario: 'seen' })
    expect((await here.get('/svc/scenarios/seen/records')).status).toBe(200)
  })

  const OURS = ['records', 'records/batch', 'report', 'train', 'harness/proposals'].map((route) => `/svc/${route}`)
  it.each(['/v1/chat/completions', '/v1/images', ...OURS])(
    'needs a scenario header on %s [routes.scenario-header] [inference.scenario-required]',
    async (path) => {
      for (const headers of [{}, named(''), named('   ')]) {
        const answer = await here.post(path, {}, headers)
        expect(answer.status).toBe(400)
        expect(errorOf(answer)).toMatchObject({ code: 'scenario_missing', message: expect.stringContaining('x-svc-scenario') })
      }
    },
  )
})
