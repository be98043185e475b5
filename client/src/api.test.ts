/** The typed client: what it sends, what it hands back, and how it says that something went wrong. */
import { describe, expect, it } from 'vitest'
import { world } from '../../test/support/world.ts'
import { connect, ServiceFailure, type Svc } from './index.ts'
import { fakeService } from './testing/fake-service.ts'

const TOKEN = 'a-secret-token'
const ROW = { step: 1, release_id: 'r', content_id: 'c', parent_release_id: null, operation: 'train', result: 'published' }
const RECORD = { sequence: 3, agent_record_id: 'x', request_type: 'report' }
const HEAD = { scenario: 's', release_id: 'r', content_id: 'c', step: 2 }
const RECEIPT = { agent_record_id: 'x', scenario: 's', request_type: 'report' }
const MANIFEST = { release_id: 'r', content_id: 'c', parent_release_id: null, files: { 'a.md': 'text' }, requires: [] }

const TRAIN = { text: 'be brief', session: 'n', release_id: 'r' }

const CALLS: readonly [string, (svc: Svc) => Promise<unknown>, string, unknown, unknown?][] = [
  ['report', (svc) => svc.report({ score: 1 }), 'POST /svc/report {"score":1}', RECEIPT],
  ['train', (svc) => svc.train(TRAIN), `POST /svc/train ${JSON.stringify(TRAIN)}`, { ...RECEIPT, page_path: '/p' }],
  ['importRecords', (svc) => svc.importRecords([]), 'POST /svc/records/batch {"records":[]}', { records: [RECEIPT] }, [RECEIPT]],
  ['manifest', (svc) => svc.manifest(), 'GET /svc/harness ', MANIFEST],
  ['manifest of a release', (svc) => svc.manifest('live:1:2'), 'GET /svc/harness?release_id=live%3A1%3A2 ', MANIFEST],
  ['releases', (svc) => svc.releases(), 'GET /svc/scenarios/%C3%BC%20%3F/releases?limit=100 ', { releases: [ROW] }, [ROW]],
  [
    'releasePage',
    (svc) => svc.releasePage({ before_step: 9, limit: 1 }),
    'GET /svc/scenarios/%C3%BC%20%3F/releases?limit=1&before_step=9 ',
    { releases: [ROW], next_before_step: 1 },
    { releases: [ROW], next: 1 },
  ],
  [
    'catalog',
    (svc) => svc.catalog(),
    'GET /svc/harness/releases?limit=100 ',
    { releases: [{ ...ROW, page_path: '/p' }] },
    [{ ...ROW, page_path: '/p' }],
  ],
  [
    'catalogPage',
    (svc) => svc.catalogPage({ after_step: 0, limit: 1 }),
    'GET /svc/harness/releases?limit=1&after_step=0 ',
    { releases: [{ ...ROW, page_path: '/p' }], next_after_step: null },
    { releases: [{ ...ROW, page_path: '/p' }], next: null },
  ],
  [
    'progress',
    (svc) => svc.progress('a b'),
    'GET /svc/harness/requests/a%20b/progress ',
    { request_id: 'a b', settled: false, state: 'queued' },
  ],
  ['promote', (svc) => svc.promote('r'), 'POST /svc/scenarios/%C3%BC%20%3F/promote {"release_id":"r"}', HEAD],
  ['rollback', (svc) => svc.rollback('r'), 'POST /svc/scenarios/%C3%BC%20%3F/rollback {"release_id":"r"}', HEAD],
  ['status', (svc) => svc.status(), 'GET /svc/status ', { error: null, preload_errors: {}, scenarios: {} }],
  ['fleet', (svc) => svc.fleet(), 'GET /svc/fleet ', { workers: [{ name: 'w' }], waiting: 0, unplayable: [], last_hour: {} }],
  ['scenarios', (svc) => svc.scenarios(), 'GET /svc/scenarios ', { scenarios: [{ scenario: 's' }] }, [{ scenario: 's' }]],
  ['createScenario', (svc) => svc.createScenario('s'), 'POST /svc/scenarios {"name":"s"}', HEAD],
  ['createScenario of a recipe', (svc) => svc.createScenario('s', 'r'), 'POST /svc/scenarios {"name":"s","recipe":"r"}', HEAD],
  [
    'updateScenario',
    (svc) => svc.updateScenario({ training_mode: 'auto', model: null }),
    'POST /svc/scenarios/%C3%BC%20%3F/update {"training_mode":"auto","model":null}',
    { scenario: 's', training_mode: 'auto' },
  ],
  ['archiveScenario', (svc) => svc.archiveScenario(), 'DELETE /svc/scenarios/%C3%BC%20%3F ', { scenario: 's', archived: [] }],
  [
    'configuration',
    (svc) => svc.configuration(),
    'GET /svc/configuration ',
    { keys: [{ key: 'svc.port', value: 1, origin: 'default' }], recipes: [{ name: 'r' }], upstream: {} },
  ],
  [
    'records',
    (svc) => svc.records({ order: 'newest', before_sequence: 4, limit: 1 }),
    'GET /svc/scenarios/%C3%BC%20%3F/records?order=newest&before_sequence=4&limit=1 ',
    { records: [RECORD], next_before_sequence: 3 },
    { records: [RECORD], next: 3 },
  ],
  [
    'records of an empty page that claims to have a next one',
    (svc) => svc.records(),
    'GET /svc/scenarios/%C3%BC%20%3F/records ',
    { records: [], next_after_sequence: 7 },
    { records: [], next: null },
  ],
  ['health', (svc) => svc.health(), 'GET /healthz ', { ok: true }],
]

const page = (rows: readonly object[], more: object) => ({ status: 200, body: JSON.stringify({ releases: rows, ...more }) })
const at = (step: number, more: object = {}) => ({ ...ROW, step, current: false, page_path: '/p', ...more })
const served = (rows: readonly { readonly step: number; readonly current: boolean }[]) => rows.map(({ step, current }) => [step, current])

describe('each method', () => {
  it.each(CALLS)('%s asks its route and hands back the answer', async (_, call, asked, body, value = body) => {
    const service = await fakeService({ status: 200, body: JSON.stringify(body) })
    expect(await call(connect({ url: `${service.url}/`, scenario: 'ü ?', token: TOKEN }))).toEqual(value)
    const [request] = service.requests
    expect(`${request?.method} ${request?.path} ${request?.body}`).toBe(asked)
    expect(request?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}` })
    expect(Buffer.from(String(request?.headers['x-svc-scenario']), 'latin1').toString()).toBe('ü ?')
  })

  it.each(CALLS)('%s takes an answer of another shape for what it is', async (_, call) => {
    const service = await fakeService({ status: 200, body: '<html>hello</html>' }, { status: 200, body: '{"files":[]}' })
    const svc = connect({ url: service.url, scenario: 's' })
    for (let answer = 0; answer < 2; answer += 1)
      expect(await failureOf(call(svc))).toMatchObject({ code: 'unexpected_answer', status: 200 })
  })

  it('reads every page of a long list, and takes the newest of the rows that say they are served', async () => {
    const service = await fakeService(
      page([at(3), at(2, { current: true })], { next_before_step: 2 }),
      page([at(1, { current: true }), at(0)], { next_before_step: null }),
      page([at(0), at(1, { current: true })], { next_after_step: 1 }),
      page([at(2, { current: true })], { next_after_step: null }),
    )
    const svc = connect({ url: service.url, scenario: 's' })
    expect(served(await svc.releases())).toEqual([
      [3, false],
      [2, true],
      [1, false],
      [0, false],
    ])
    expect(served(await svc.catalog())).toEqual([
      [0, false],
      [1, false],
      [2, true],
    ])
    expect(service.requests.map(({ path }) => path.replace(/.*\?/, ''))).toEqual([
      'limit=100',
      'limit=100&before_step=2',
      'limit=100',
      'limit=100&after_step=1',
    ])
  })

  it('health says that a service is not ready where it answers 503, and fails where something else does', async () => {
    const service = await fakeService({ status: 503, body: '{"ok":false}' }, { status: 503, body: '{"error":{"message":"no"}}' })
    const svc = connect({ url: service.url })
    expect(await svc.health()).toEqual({ ok: false })
    expect(await failureOf(svc.health())).toMatchObject({ status: 503 })
  })

  it('refuses a manifest whose files are not texts', async () => {
    const service = await fakeService({ status: 200, body: JSON.stringify({ ...MANIFEST, files: { a: { b: 1 } } }) })
    expect(await failureOf(connect({ url: service.url, scenario: 's' }).manifest())).toMatchObject({ code: 'unexpected_answer' })
  })

  it('that needs a scenario says so where none is named, without asking', async () => {
    const service = await fakeService()
    const svc = connect({ url: service.url, scenario: ' ' })
    expect((await failureOf(svc.manifest())).message).toMatch(/no scenario is named/)
    expect(service.requests).toEqual([])
  })

  it('works against the service itself, its refusals included', async () => {
    const real = await world({ backend: 'sqlite', settings: { 'svc.token': TOKEN } })
    try {
      const svc = connect({ url: real.address, scenario: 'ünïcode', token: TOKEN })
      expect(await svc.health()).toEqual({ ok: true })
      const [first] = await svc.importRecords([{ agent_record_id: 'a', request_type: 'inference', payload: { response: {} } }])
      expect(first).toEqual({ agent_record_id: 'a', scenario: 'ünïcode', request_type: 'inference' })
      expect(await svc.report({ score: 1, references: ['a'], agent_record_id: 'b' })).toMatchObject({ agent_record_id: 'b' })
      expect(await svc.scenarios()).toMatchObject([{ scenario: 'ünïcode', loaded: true, recipe: 'record-only' }])
      expect(await svc.releases()).toMatchObject([{ step: 0, operation: 'create', current: true, result: 'published' }])
      expect((await svc.status()).scenarios).toHaveProperty('ünïcode')
      expect(await failureOf(svc.report({ references: ['nobody'] }))).toMatchObject({ status: 400, code: expect.any(String) as unknown })
      expect(await failureOf(svc.manifest())).toMatchObject({ status: 404, code: 'no_harness' })
      expect(await failureOf(svc.progress('nothing'))).toMatchObject({ status: 404, code: 'unknown_request' })
      expect(await failureOf(svc.rollback('no-release'))).toMatchObject({ status: 404 })
      expect(await failureOf(connect({ url: real.address, token: 'wrong' }).status())).toMatchObject({ status: 401, code: 'unauthorized' })
    } finally {
      await real.close()
    }
  })
})

describe('text', () => {
  it('is handed back as it is, with the query that was asked for', async () => {
    const service = await fakeService({ status: 200, body: '#!/bin/sh\n: ünï\n' })
    const svc = connect({ url: service.url })
    expect(await svc.text('/svc/harness/install', { adapter: 'pi', release_id: 'a&b' })).toBe('#!/bin/sh\n: ünï\n')
    expect(service.requests[0]?.path).toBe('/svc/harness/install?adapter=pi&release_id=a%26b')
    expect(service.requests[0]?.headers).not.toHaveProperty('x-svc-scenario')
    expect(service.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  it.each(['length', 'chunks'] as const)('that breaks off before its end, known by its %s, is a failure', async (cut) => {
    const service = await fakeService({ status: 200, body: '#!/bin/sh\nrm -rf tmp', cut })
    const failure = await failureOf(connect({ url: service.url }).text('/svc/harness/install'))
    expect(failure).toMatchObject({
      code: 'broken_answer',
      status: null,
      message: expect.stringMatching(/broke off .*: try again$/) as unknown,
    })
  })
})

describe('a failure', () => {
  it.each([
    [
      401,
      '{"error":{"message":"no","code":"unauthorized"}}',
      'unauthorized',
      /^the service answered 401: no \(set SVC_TOKEN to the service's token\)$/,
    ],
    [307, '', null, /redirects are not followed/],
    [503, '{"error":{"message":"full","code":"all_loaded"}}', 'all_loaded', /^the service answered 503: full \(try again in a moment\)$/],
    [404, '{"error":{"message":"no such release; list them"}}', null, /^the service answered 404: no such release; list them$/],
    [400, '<p>\n bad\u001b[2J\r\n\tgateway', null, /^the service answered 400: <p> bad\[U\+001B\]\[2J gateway$/],
    [400, `you sent Bearer ${TOKEN}`, null, /^the service answered 400: you sent Bearer …$/],
  ])('of status %i is one line with the service’s words and what to do', async (status, body, code, message) => {
    const service = await fakeService({ status, body, headers: { location: '/elsewhere' } })
    const failure = await failureOf(connect({ url: service.url, token: TOKEN }).status())
    expect(failure).toMatchObject({ status, code, message: expect.stringMatching(message) as unknown })
    expect(service.requests).toHaveLength(1)
  })

  it('to reach anyone asks whether the service runs there', async () => {
    const failure = await failureOf(connect({ url: 'http://127.0.0.1:2', token: TOKEN }).health())
    expect(failure.message).toBe('the service cannot be reached (ECONNREFUSED): is it running at http://127.0.0.1:2?')
    expect(failure).toMatchObject({ status: null, code: 'unreachable' })
  })

  it('to answer in time says how long was waited', async () => {
    const service = await fakeService('hang')
    const failure = await failureOf(connect({ url: service.url, timeoutSeconds: 0.1 }).health())
    expect(failure).toMatchObject({ code: 'timeout', message: expect.stringContaining('within 0.1 s') as unknown })
  })

  it.each([
    ['a url of another kind', { url: 'ftp://h' }, /^url must be an http/],
    ['a url with a password', { url: 'http://me:pw@h' }, /^url must not carry credentials/],
    ['a scenario no header can hold', { url: 'http://h', scenario: 'a\nb' }, /^scenario must not hold control/],
    ['a token no header can hold', { url: 'http://h', token: `${TOKEN}\nx` }, /^token holds characters/],
  ])('is thrown at once for %s, and never shows a secret', (_, address, message) => {
    expect(() => connect(address)).toThrow(ServiceFailure)
    expect(() => connect(address)).toThrow(message)
    expect(() => connect(address)).not.toThrow(/secret|pw/)
  })
})

async function failureOf(call: Promise<unknown>): Promise<ServiceFailure> {
  const failure: unknown = await call.catch((error: unknown) => error)
  if (failure instanceof ServiceFailure) return failure
  throw new Error(`expected a ServiceFailure, got ${JSON.stringify(failure)}`)
}
