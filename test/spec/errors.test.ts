/** The rows of the error table that this build can produce, each by its own cause. */
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { routes } from '../../src/http/routes.ts'
import { answerPlainly, sendJson } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { ownWorld, sharedWorld, type Answer } from '../support/world.ts'
import { expectRefusal } from './support/refusal.ts'
import { errorOf, importInference, inference, named, OPEN_RECIPE } from './support/helpers.ts'

const SECRET = 'sk-never-to-be-shown-anywhere'
const INSTRUCTION = { text: 'Please answer in French.', session: 's-1', release_id: 'r-1' }
const KNOWN = named('known')
/** The install route answers with a script otherwise. */
const AS_JSON = { accept: 'application/json' }
const chat = { model: 'm', messages: [] }

const here = sharedWorld({
  settings: { recipe: 'open', 'recipes.open.use': OPEN_RECIPE, 'recipes.plain.use': 'record-only', 'inference.upstream_api_key': SECRET },
})
beforeAll(async () => {
  await here.post('/svc/scenarios', { name: 'known' })
  await here.post('/svc/scenarios', { name: 'plain', recipe: 'plain' })
  await importInference(here, 'known', 'first')
})

type Row = readonly [title: string, status: number, code: string, ask: () => Promise<Answer>]

const ROWS: readonly Row[] = [
  ['a malformed body [errors.400-body]', 400, 'malformed_json', () => here.post('/svc/report', '{"score": ', KNOWN)],
  ['a body that is no object [errors.400-body]', 400, 'malformed_json', () => here.post('/svc/report', '[]', KNOWN)],
  ['no body at all [errors.400-body]', 400, 'malformed_json', () => here.post('/svc/records', undefined, KNOWN)],
  ['a missing scenario header [errors.400-scenario]', 400, 'scenario_missing', () => here.post('/svc/report', {})],
  ['a blank scenario header [errors.400-scenario]', 400, 'scenario_missing', () => here.post('/svc/report', {}, named('  '))],
  [
    'a report against its schema [errors.400-report]',
    400,
    'report_schema',
    () => here.post('/svc/report', { metadata: { grade: 'F' } }, KNOWN),
  ],
  [
    'a missing reference [errors.400-references]',
    400,
    'unknown_reference',
    () => here.post('/svc/report', { references: ['none'] }, KNOWN),
  ],
  [
    'a repeated reference [errors.400-references]',
    400,
    'repeated_reference',
    () => here.post('/svc/report', { references: ['first', 'first'] }, KNOWN),
  ],
  ['a bad envelope [errors.400-envelope]', 400, 'invalid_field', () => here.post('/svc/records', { request_type: 'inference' }, KNOWN)],
  [
    'an extra envelope field [errors.400-envelope]',
    400,
    'invalid_field',
    () => here.post('/svc/records', { ...inference('x'), tags: {} }, KNOWN),
  ],
  ['a bad filter [errors.400-filter]', 400, 'invalid_query', () => here.get('/svc/scenarios/known/records?request_type=all')],
  ['an instruction in auto mode [errors.400-train]', 400, 'auto_mode', () => here.post('/svc/train', INSTRUCTION, KNOWN)],
  [
    'install for native [errors.400-install]',
    400,
    'adapter_without_install',
    () => here.get('/svc/harness/install?adapter=native', AS_JSON),
  ],
  [
    'install for terminus [errors.400-install]',
    400,
    'adapter_without_install',
    () => here.get('/svc/harness/install?adapter=terminus', AS_JSON),
  ],
  ['an unknown scenario [errors.404-scenario]', 404, 'unknown_scenario', () => here.get('/svc/scenarios/none/contract')],
  [
    'an instruction for an unknown scenario [errors.404-scenario]',
    404,
    'unknown_scenario',
    () => here.post('/svc/train', INSTRUCTION, named('none')),
  ],
  ['an unknown release [errors.404-names]', 404, 'unknown_release', () => here.post('/svc/scenarios', { name: 'n', release_id: 'none' })],
  ['an unknown adapter [errors.404-names]', 404, 'no_harness_recipe', () => here.get('/svc/harness/install?adapter=nobody', AS_JSON)],
  ['an unknown request [errors.404-names]', 404, 'unknown_request', () => here.get('/svc/harness/requests/none/progress', KNOWN)],
  ['an unknown record [errors.404-names]', 404, 'unknown_record', () => here.get('/svc/scenarios/known/records/none')],
  ['no files [errors.404-harness]', 404, 'no_harness', () => here.get('/svc/harness', KNOWN)],
  ['no proposals [errors.404-harness]', 404, 'no_proposals', () => here.post('/svc/harness/proposals', { mutations: [] }, KNOWN)],
  [
    'evaluation of nothing [errors.404-evaluation]',
    404,
    'unknown_scenario',
    () => here.post('/svc/scenarios/none/evaluation/v1/chat/completions', chat),
  ],
  [
    'evaluation of no component [errors.404-evaluation]',
    404,
    'unknown_component',
    () => here.post('/svc/scenarios/known/components/none/evaluation/v1/chat/completions', chat),
  ],
  [
    'another base for an existing scenario [errors.409-base]',
    409,
    'other_release',
    () => here.post('/svc/scenarios', { name: 'known', release_id: 'other' }),
  ],
  [
    'another recipe for an existing scenario [errors.409-recipe]',
    409,
    'other_recipe',
    () => here.post('/svc/scenarios', { name: 'known', recipe: 'plain' }),
  ],
  [
    'a record id with other content [errors.409-record]',
    409,
    'record_conflict',
    () => here.post('/svc/records', inference('first', { changed: true }), KNOWN),
  ],
  [
    'a release header that is not the bound start [errors.409-release-header]',
    409,
    'other_release',
    () => here.post('/v1/chat/completions', chat, { ...KNOWN, 'x-svc-release-id': 'other' }),
  ],
  ['no gateway [errors.501]', 501, 'no_gateway', () => here.post('/v1/embeddings', {}, KNOWN)],
  [
    'an unsupported mode [errors.501]',
    501,
    'unsupported_mode',
    () => here.post('/svc/scenarios/plain/update', { training_mode: 'manual' }),
  ],
]

describe('the error table', () => {
  it.each(ROWS)('%s is %i, %s [decisions.errors-shape] [decisions.errors-message] [decisions.errors-should-retry]', async (...row) => {
    const [, status, code, ask] = row
    expectRefusal(await ask(), status, code)
  })

  it('on the messages routes has the shape their clients read [decisions.errors-shape]', async () => {
    expectRefusal(await here.post('/v1/messages', chat), 400, null, true)
    expectRefusal(await here.post('/v1/messages/count_tokens', '{', KNOWN), 400, null, true)
    expectRefusal(await here.post('/svc/scenarios/none/evaluation/v1/messages', chat), 404, null, true)
  })
})

/** One call that the upstream answers with this. */
async function answerWith(status: number, body: object | string, headers: Record<string, string> = {}): Promise<Answer> {
  here.upstream.answer((_received, response) => {
    if (typeof body === 'object') sendJson(response, status, body, headers)
    else response.writeHead(status, headers).end(body)
  })
  const answer = await here.post('/v1/chat/completions', chat, KNOWN)
  here.upstream.answer(answerPlainly)
  return answer
}

describe('an upstream', () => {
  it.each([400, 401, 403, 404, 408, 409, 422, 429])(
    'that refuses with %i is relayed with its words [errors.upstream-relay]',
    async (status) => {
      const answer = await answerWith(status, { error: { message: 'in its own words' } }, { 'retry-after': '3', 'x-ratelimit-limit': '9' })
      expect(answer.status).toBe(status)
      expect(errorOf(answer)['message']).toBe('in its own words')
      expect(answer.headers).toMatchObject({ 'retry-after': '3', 'x-ratelimit-limit': '9' })
    },
  )

  it('is the only source of a 403 [errors.403] [auth.7]', async () => {
    expect((await answerWith(403, { error: { message: 'not for you' } })).status).toBe(403)
  })

  it.each([402, 405, 410, 418, 451])('that refuses with %i comes back as 400 [errors.400-upstream]', async (status) => {
    const answer = await answerWith(status, { error: { message: 'in its own words' } })
    expect(answer.status).toBe(400)
    expect(errorOf(answer)['message']).toBe('in its own words')
  })

  it.each([500, 502, 503, 529])('that fails with %i is 502 [errors.502]', async (status) => {
    expect((await answerWith(status, { error: { message: 'broken' } })).status).toBe(502)
  })

  it('that answers 200 with something else than the route promises is 502 [errors.502] [decisions.errors-upstream-502]', async () => {
    expectRefusal(await answerWith(200, 'not json', { 'content-type': 'application/json' }), 502, 'upstream_not_json')
  })

  it('that refuses without JSON is quoted up to 2,000 characters [decisions.errors-upstream]', async () => {
    const answer = await answerWith(400, '€'.repeat(2001), { 'content-type': 'text/plain' })
    expect(errorOf(answer)['message']).toBe('€'.repeat(2000))
  })

  it('that cannot be reached is 502, with its address and what to do [errors.502] [decisions.errors-upstream-502]', async () => {
    await here.post('/svc/scenarios', { name: 'nowhere', model: { url: 'http://127.0.0.1:9/below' } })
    const answer = await here.post('/v1/chat/completions', chat, named('nowhere'))
    expectRefusal(answer, 502, 'upstream_unreachable')
    expect(errorOf(answer)['message']).toMatch(
      /^the upstream at http:\/\/127\.0\.0\.1:9 could not be reached: nothing listens there \(ECONNREFUSED\); start it, or change /,
    )
    await until(() => here.log.some(({ cause }) => cause === errorOf(answer)['message']))
  })

  it("never hears of, and never leaks, the deployment's key [decisions.errors-message]", async () => {
    const answer = await answerWith(401, { error: { message: 'bad key' } })
    expect(answer.text + JSON.stringify(answer.headers)).not.toContain(SECRET)
    expect(JSON.stringify(here.log)).not.toContain(SECRET)
  })
})

describe('a path that is no route', () => {
  it.each([
    ['/v1/v1/messages', "/v1 twice: take /v1 out of the client's base URL, so that it asks /v1/messages"],
    ['/v1/v1/chat/completions', 'so that it asks /v1/chat/completions'],
    ['/v1/v1/v1/responses', 'so that it asks /v1/responses'],
    ['/chat/completions', "lacks /v1: let the client's base URL end in /v1, so that it asks /v1/chat/completions"],
    ['/messages/count_tokens', 'so that it asks /v1/messages/count_tokens'],
    ['/models', 'so that it asks /v1/models'],
    ['/v1/nothing', 'the interface page lists them all'],
    ['/v1/v1/nothing', 'the interface page lists them all'],
  ])('%s is 404 and says: %s', async (path, cure) => {
    const answer = await here.post(path, chat, KNOWN)
    expect(answer.status).toBe(404)
    expect(errorOf(answer)['message']).toContain(cure)
  })

  it.each([
    ['/v1/nothing?api_key=secret-in-query', '/v1/nothing'],
    ['http://user:secret-of-user@elsewhere/v1/nothing', '/v1/nothing'],
    ['/a%3Fkey=secret-encoded', '/a'],
    [`/${'x'.repeat(5000)}`, `/${'x'.repeat(199)}…`],
  ])('is in the log without what may be secret: %s', async (path, shown) => {
    await here.get(path)
    const last = (): JsonObject | undefined => here.log.findLast(({ event }) => event === 'request')
    await until(() => last()?.['path'] === shown)
    expect(last()).toMatchObject({ route: 'unknown', status: 404 })
    expect(JSON.stringify(last())).not.toContain('secret')
  })
})

it('every response of every route carries a request id, is what it says it is, and is kept by nobody [decisions.errors-request-id]', async () => {
  const bare: string[] = []
  const unguarded: string[] = []
  for (const { method, path } of routes) {
    const answer = await here.ask(method, path.replace(':scenario', 'ids').replaceAll(/:\w+/g, '0'), { headers: named('ids') })
    if (!/^[0-9a-f]{32}$/.test(String(answer.headers['x-request-id']))) bare.push(`${method} ${path}`)
    const kept = path.startsWith('/console') ? /^(?:no-cache|no-store|public, max-age=\d+, immutable)$/ : /^no-store$/
    const isGuarded = answer.headers['x-content-type-options'] === 'nosniff' && kept.test(String(answer.headers['cache-control']))
    if (!isGuarded) unguarded.push(`${method} ${path}`)
  }
  expect(bare).toEqual([])
  expect(unguarded).toEqual([])
})

it('an artifact store that cannot be reached is 503, and the scenario is not made [errors.503-store]', async () => {
  const there = await ownWorld({ backend: 'sqlite' })
  const repository = join(there.directory, 'artifacts.git')
  await rename(repository, `${repository}.away`)
  await writeFile(repository, '')
  expectRefusal(await there.post('/svc/scenarios', { name: 'new' }), 503, 'artifact_store_failed')
  expectRefusal(await there.post('/svc/report', {}, named('new')), 503, 'artifact_store_failed')
  expect(there.log.findLast(({ event }) => event === 'request')).toMatchObject({ code: 'artifact_store_failed', cause: expect.any(String) })
  await rm(repository)
  await rename(`${repository}.away`, repository)
  expect((await there.get('/svc/scenarios/new/contract')).status).toBe(404)
  expect((await there.post('/svc/report', {}, named('new'))).status).toBe(200)
})
