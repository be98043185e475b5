/** The rows of the error table that this build can produce, each by its own cause. */
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { routes } from '../../src/http/routes.ts'
import { answerPlainly, sendJson } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { ownWorld, sharedWorld, type Answer } from '../support/world.ts'
import { errorOf, expectRefusal, importInference, inference, named, OPEN_RECIPE } from './support/helpers.ts'

const SECRET = 'sk-never-to-be-shown-anywhere'
const INSTRUCTION = { text: 'Please answer in French.', session: 's-1', release_id: 'r-1' }
const KNOWN = named('known')
/** The install route answers with a script otherwise. */
const AS_JSON = { accept: 'application/json' }
const chat = { model: 'm', messages: [] }
const CHAT = '/v1/chat/completions'
const COMPONENTS = '/svc/scenarios/known/components'

const here = sharedWorld({
  settings: { recipe: 'open', 'recipes.open.use': OPEN_RECIPE, 'recipes.plain.use': 'record-only', 'inference.upstream_api_key': SECRET },
})
beforeAll(async () => {
  await here.post('/svc/scenarios', { name: 'known' })
  await here.post('/svc/scenarios', { name: 'plain', recipe: 'plain' })
  await importInference(here, 'known', 'first')
})

type Row = readonly [title: string, status: number, code: string, ask: () => Promise<Answer>]
const get = (path: string, headers?: Record<string, string>) => () => here.get(path, headers)
const post =
  (path: string, body?: string | object, headers: Record<string, string> = KNOWN) =>
  () =>
    here.post(path, body, headers)
const GRADE = { metadata: { grade: 'F' } }
const OTHER_RELEASE = { ...KNOWN, 'x-svc-release-id': 'other' }
const MUTATIONS = { mutations: [] }

const ROWS: readonly Row[] = [
  ['a malformed body [errors.400-body]', 400, 'malformed_json', post('/svc/report', '{"score": ')],
  ['a body that is no object [errors.400-body]', 400, 'malformed_json', post('/svc/report', '[]')],
  ['no body at all [errors.400-body]', 400, 'malformed_json', post('/svc/records')],
  ['a missing scenario header [errors.400-scenario]', 400, 'scenario_missing', post('/svc/report', {}, {})],
  ['a blank scenario header [errors.400-scenario]', 400, 'scenario_missing', post('/svc/report', {}, named('  '))],
  ['a report against its schema [errors.400-report]', 400, 'report_schema', post('/svc/report', GRADE)],
  ['a missing reference [errors.400-references]', 400, 'unknown_reference', post('/svc/report', { references: ['none'] })],
  ['a repeated reference [errors.400-references]', 400, 'repeated_reference', post('/svc/report', { references: ['first', 'first'] })],
  ['a bad envelope [errors.400-envelope]', 400, 'invalid_field', post('/svc/records', { request_type: 'inference' })],
  ['an extra envelope field [errors.400-envelope]', 400, 'invalid_field', post('/svc/records', { ...inference('x'), tags: {} })],
  ['a bad filter [errors.400-filter]', 400, 'invalid_query', get('/svc/scenarios/known/records?request_type=all')],
  ['an instruction in auto mode [errors.400-train]', 400, 'auto_mode', post('/svc/train', INSTRUCTION)],
  ['install for native [errors.400-install]', 400, 'adapter_without_install', get('/svc/harness/install?adapter=native', AS_JSON)],
  ['install for terminus [errors.400-install]', 400, 'adapter_without_install', get('/svc/harness/install?adapter=terminus', AS_JSON)],
  ['an unknown scenario [errors.404-scenario]', 404, 'unknown_scenario', get('/svc/scenarios/none/contract')],
  ['an instruction for no scenario [errors.404-scenario]', 404, 'unknown_scenario', post('/svc/train', INSTRUCTION, named('none'))],
  ['an unknown release [errors.404-names]', 404, 'unknown_release', post('/svc/scenarios', { name: 'n', release_id: 'none' })],
  ['an unknown adapter [errors.404-names]', 404, 'no_harness_recipe', get('/svc/harness/install?adapter=unheard', AS_JSON)],
  ['an unknown request [errors.404-names]', 404, 'unknown_request', get('/svc/harness/requests/none/progress', KNOWN)],
  ['an unknown record [errors.404-names]', 404, 'unknown_record', get('/svc/scenarios/known/records/none')],
  ['no files [errors.404-harness]', 404, 'no_harness', get('/svc/harness', KNOWN)],
  ['no proposals [errors.404-harness]', 404, 'no_proposals', post('/svc/harness/proposals', MUTATIONS)],
  ['evaluation of nothing [errors.404-evaluation]', 404, 'unknown_scenario', post(`/svc/scenarios/none/evaluation${CHAT}`, chat)],
  ['evaluation of no component [errors.404-evaluation]', 404, 'unknown_component', post(`${COMPONENTS}/none/evaluation${CHAT}`, chat)],
  ['another base for a scenario [errors.409-base]', 409, 'other_release', post('/svc/scenarios', { name: 'known', release_id: 'other' })],
  ['another recipe for a scenario [errors.409-recipe]', 409, 'other_recipe', post('/svc/scenarios', { name: 'known', recipe: 'plain' })],
  [
    'other content for a record id [errors.409-record]',
    409,
    'record_conflict',
    post('/svc/records', inference('first', { changed: true })),
  ],
  ['a release header that is not the bound start [errors.409-release-header]', 409, 'other_release', post(CHAT, chat, OTHER_RELEASE)],
  ['no gateway [errors.501]', 501, 'no_gateway', post('/v1/embeddings', {})],
  ['an unsupported mode [errors.501]', 501, 'unsupported_mode', post('/svc/scenarios/plain/update', { training_mode: 'manual' })],
]

describe('the error table', () => {
  it.each(ROWS)('%s is %i, %s [decisions.errors-shape] [decisions.errors-message] [decisions.errors-should-retry]', async (...row) => {
    const [, status, code, ask] = row
    expectRefusal(await ask(), status, code)
  })

  it('on the messages routes has the shape their clients read [decisions.errors-shape]', async () => {
    expectRefusal(await here.post('/v1/messages', chat), 400, null)
    expectRefusal(await here.post('/v1/messages/count_tokens', '{', KNOWN), 400, null)
    expectRefusal(await here.post('/svc/scenarios/none/evaluation/v1/messages', chat), 404, null)
  })
})

describe('an upstream', () => {
  it('that cannot be reached is 502, with its address and what to do [errors.502] [decisions.errors-upstream-502]', async () => {
    await here.post('/svc/scenarios', { name: 'nowhere', model: { url: 'http://127.0.0.1:9/below' } })
    const answer = await here.post('/v1/chat/completions', chat, named('nowhere'))
    expectRefusal(
      answer,
      502,
      'upstream_unreachable',
      /^the upstream at http:\/\/127\.0\.0\.1:9 could not be reached: nothing listens there \(ECONNREFUSED\); start it, or change /,
    )
    await until(() => here.log.some(({ cause }) => cause === errorOf(answer)['message']))
  })

  it("that refuses the deployment's key shows it in no answer and no log [decisions.errors-message]", async () => {
    here.upstream.answer((_received, response) => sendJson(response, 401, { error: { message: 'bad key' } }))
    const answer = await here.post(CHAT, chat, KNOWN)
    here.upstream.answer(answerPlainly)
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

it('every response of every route carries a request id and its content type, and is not cached [decisions.errors-request-id]', async () => {
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
