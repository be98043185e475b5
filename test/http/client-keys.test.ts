/** A client's own login at a provider: passed on to that provider, where the deployment says so, and found nowhere else. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { recordsOf } from '../support/kept.ts'
import { answerPlainly, sendJson, startUpstream, type Received, type Upstream } from '../support/upstream.ts'
import { world, type World } from '../support/world.ts'

const TOKEN = 'the-token-of-this-service'
const CONFIGURED = 'key-of-the-deployment-0123456789'
const LOGIN = ['sk-ant', 'oat01', 'Zq7Lm4R8tZ0pWnB8sKd2HyJu6eFc'].join('-')
const KEY = ['sk-ant', 'api03', 'Yq7Lm4R8tZ0pWnB8sKd2HyJu6eFc'].join('-')
const login = { authorization: `Bearer ${LOGIN}`, 'x-api-key': TOKEN }

let provider: Upstream
let elsewhere: Upstream
let here: World
let count = 0
let scenario = ''
beforeAll(async () => {
  ;[provider, elsewhere] = [await startUpstream(), await startUpstream()]
  const settings = {
    'svc.token': TOKEN,
    'inference.upstream_url': provider.url,
    'inference.upstream_api_key': CONFIGURED,
    'inference.client_key_origins': `[${provider.url}]`,
    'inference.timeout_s': 1,
  }
  here = await world({ settings })
})
beforeEach(() => {
  scenario = `own-${++count}`
  for (const upstream of [provider, elsewhere]) {
    upstream.answer(answerPlainly)
    upstream.received.length = 0
  }
})
afterAll(async () => {
  await here.close()
  await Promise.all([provider, elsewhere].map((upstream) => upstream.close()))
})

const ask = (headers: Readonly<Record<string, string>>, body: object = {}, path = '/v1/messages') =>
  here.post(path, { model: 'm', messages: [], max_tokens: 1, ...body }, { 'x-svc-scenario': scenario, ...headers })
const keysOf = ({ headers }: Received) => [headers.authorization, headers['x-api-key']]
/** The first record of the scenario; null without any. */
const recorded = async () => (await recordsOf({ ...here, get: (path) => here.get(path, asService) }, scenario))[0] ?? null
const asService = { authorization: `Bearer ${TOKEN}` }

describe('a client’s own login', () => {
  it('goes to its provider as it came, in place of the configured key, beside the token of this service', async () => {
    expect((await ask(login)).status).toBe(200)
    expect((await ask({ ...asService, 'x-api-key': KEY })).status).toBe(200)
    expect((await ask(login, {}, '/v1/messages/count_tokens')).status).toBe(200)
    expect((await here.get('/v1/models', login)).status).toBe(200)
    expect((await ask(asService)).status).toBe(200)
    const passed = [`Bearer ${LOGIN}`, undefined]
    expect(provider.received.map(keysOf)).toEqual([passed, [undefined, KEY], passed, passed, [undefined, CONFIGURED]])
  })

  it.each<[string, Readonly<Record<string, string>>]>([
    ['alone', { authorization: `Bearer ${LOGIN}` }],
    ['beside a wrong token', { ...login, 'x-api-key': 'guess' }],
    ['beside another', { ...login, 'x-api-key': KEY }],
    ['that is only like one', { ...login, authorization: 'Bearer sk-ant-oat01-short' }],
    ['beside a wrong token as authorization', { authorization: 'Bearer guess', 'x-api-key': KEY }],
  ])('%s opens nothing here', async (_what, headers) => {
    for (const path of ['/v1/messages', '/svc/scenarios']) expect((await ask(headers, {}, path)).status).toBe(401)
    expect(provider.received).toEqual([])
  })

  it('never goes to another origin: a scenario’s own model, another port of the same host, nor along a redirect', async () => {
    await here.post('/svc/scenarios', { name: scenario, model: { url: elsewhere.url } }, asService)
    expect((await ask(login)).status).toBe(200)
    expect(elsewhere.received.map(keysOf)).toEqual([[undefined, undefined]])
    await here.post(`/svc/scenarios/${scenario}/update`, { model: { url: elsewhere.url, api_key: 'its-own' } }, asService)
    expect((await ask(login)).status).toBe(200)
    expect(elsewhere.received.map(keysOf)[1]).toEqual([undefined, 'its-own'])
    scenario += '-redirected'
    provider.answer((_received, response) => void response.writeHead(307, { location: `${elsewhere.url}/v1/messages` }).end('{}'))
    await ask(login)
    expect([provider.received.length, elsewhere.received.length]).toEqual([1, 2])
  })

  it('is dropped where the deployment passes none on, and a token is judged as ever', async () => {
    await here.restart({ 'inference.client_key_origins': '[]' })
    expect((await ask(login)).status).toBe(401)
    expect((await ask({ ...asService, 'x-api-key': KEY })).status).toBe(200)
    expect(provider.received.map(keysOf)).toEqual([[undefined, CONFIGURED]])
    await here.restart({ 'inference.client_key_origins': `[${provider.url}]` })
  })

  const echoes = {
    type: 'error',
    error: { type: 'authentication_error', message: `no: ${LOGIN}, Bearer ${Buffer.from(LOGIN).toString('base64')}` },
  }
  it.each<[string, Parameters<Upstream['answer']>[0], object]>([
    ['a refusal', (_received, response) => sendJson(response, 401, echoes, { 'request-id': LOGIN }), {}],
    ['a refusal of the provider’s own', (_received, response) => sendJson(response, 500, echoes, { 'retry-after': LOGIN }), {}],
    [
      'an event of a stream',
      (_received, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': LOGIN })
        response.end(`event: error\ndata: ${JSON.stringify(echoes)}\n\n`)
      },
      { stream: true },
    ],
  ])('that %s echoes reaches no answer, record, row or line of the log', async (_what, script, body) => {
    provider.answer(script)
    const answer = await ask(login, body)
    const said = [answer.text, answer.headers, await recorded(), here.log].map((each) => JSON.stringify(each)).join('\n')
    expect(answer.text).toContain('no: ')
    for (const trace of [LOGIN, LOGIN.slice(14), Buffer.from(LOGIN).toString('base64').slice(8, 30)]) expect(said).not.toContain(trace)
  })

  it('that a good answer echoes is not stored', async () => {
    provider.answer((_received, response) => sendJson(response, 200, { id: 'm', model: LOGIN, content: [{ type: 'text', text: LOGIN }] }))
    expect((await ask(login)).status).toBe(200)
    expect(JSON.stringify(await recorded())).not.toContain(LOGIN)
    expect(JSON.stringify(here.log)).not.toContain(LOGIN)
  })
})
