/** The two routes beside inference that real clients try: the list of models, and a socket. */
import { beforeEach, describe, expect, it } from 'vitest'
import { answerPlainly, sendJson } from '../support/upstream.ts'
import { ownWorld, sharedWorld } from '../support/world.ts'

const here = sharedWorld({ settings: { 'svc.token': 'service-token', 'inference.upstream_api_key': 'up-key' } })
beforeEach(() => here.upstream.answer(answerPlainly))

const token = { authorization: 'Bearer service-token' }

describe('GET /v1/models', () => {
  it('is relayed with its query and the configured key, without a scenario [decisions.inference-models]', async () => {
    const answer = await here.get('/v1/models?limit=3', { ...token, 'user-agent': 'goose/1', cookie: 'a=b' })
    expect([answer.status, answer.json]).toEqual([200, { object: 'list', data: [{ id: 'm', object: 'model' }] }])
    const received = here.upstream.received.at(-1)
    expect(received).toMatchObject({
      method: 'GET',
      url: '/v1/models?limit=3',
      headers: { authorization: 'Bearer up-key', 'user-agent': 'goose/1' },
    })
    expect(received?.headers).not.toHaveProperty('cookie')
  })

  it('neither creates the scenario it names nor records anything in it [decisions.inference-models]', async () => {
    expect((await here.get('/v1/models', { ...token, 'x-svc-scenario': 'unheard-of' })).status).toBe(200)
    expect((await here.get('/svc/scenarios/unheard-of/records', token)).status).toBe(404)
    await here.post('/svc/scenarios', { name: 'known' }, token)
    expect((await here.get('/v1/models', { ...token, 'x-svc-scenario': 'known' })).status).toBe(200)
    expect((await here.get('/svc/scenarios/known/records', token)).json['records']).toEqual([])
  })

  it('serves nothing but JSON, whatever the upstream calls it, and nothing that a browser would run', async () => {
    const page = '<script>alert(document.domain)</script>'
    here.upstream.answer((_received, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(page))
    const refused = await here.get('/v1/models', token)
    expect([refused.status, refused.json]).toMatchObject([502, { error: { code: 'upstream_not_json' } }])
    expect(refused.text).not.toContain('<script>')
    here.upstream.answer((_received, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(`{"data":["${page}"]}`))
    const served = { status: 200, headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' } }
    expect(await here.get('/v1/models', token)).toMatchObject(served)
    expect(await here.post('/v1/chat/completions', {}, { ...token, 'x-svc-scenario': 'known' })).toMatchObject(served)
  })

  it('relays an answer that has no body', async () => {
    here.upstream.answer((_received, response) => void response.writeHead(204).end())
    const answer = await here.get('/v1/models', token)
    expect([answer.status, answer.text]).toEqual([204, ''])
  })

  it('asks the model of the scenario it names, in the form that model speaks', async () => {
    const other = await ownWorld()
    const model = { url: other.upstream.url, api: 'anthropic', api_key: 'own-key' }
    await here.post('/svc/scenarios', { name: 'own', model }, token)
    expect((await here.get('/v1/models', { ...token, 'x-svc-scenario': 'own' })).status).toBe(200)
    expect(other.upstream.received.at(-1)?.headers).toMatchObject({ 'x-api-key': 'own-key', 'anthropic-version': '2023-06-01' })
  })

  it('keeps the refusal of the upstream', async () => {
    here.upstream.answer((_received, response) => sendJson(response, 404, { error: { message: 'no list here' } }))
    const answer = await here.get('/v1/models', token)
    expect([answer.status, answer.json]).toMatchObject([404, { error: { message: 'no list here' } }])
    here.upstream.answer((_received, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {}\n\n'))
    expect((await here.get('/v1/models', token)).status).toBe(502)
  })

  it('is closed like any other route', async () => {
    expect((await here.get('/v1/models')).status).toBe(401)
  })
})

describe('GET /v1/models/{id}', () => {
  const MODEL = { id: 'm', object: 'model', created: 1, owned_by: 'x' }

  it('is relayed as it is asked for, and neither creates nor records', async () => {
    here.upstream.answer((_received, response) => sendJson(response, 200, { ...MODEL, id: 'org/m' }))
    const answer = await here.get('/v1/models/org%2Fm?a=b', { ...token, 'x-svc-scenario': 'unheard-of' })
    expect([answer.status, answer.json]).toEqual([200, { ...MODEL, id: 'org/m' }])
    expect(here.upstream.received.at(-1)).toMatchObject({ url: '/v1/models/org%2Fm?a=b', headers: { authorization: 'Bearer up-key' } })
    expect((await here.get('/svc/scenarios/unheard-of/records', token)).status).toBe(404)
    expect((await here.get('/v1/models/m')).status).toBe(401)
  })

  it('is picked out of the list where the answer is one', async () => {
    here.upstream.answer((_received, response) => sendJson(response, 200, { object: 'list', data: [{ id: 'a' }, MODEL] }))
    expect((await here.get('/v1/models/m', token)).json).toEqual(MODEL)
    const missing = await here.get('/v1/models/other', token)
    expect([missing.status, missing.json]).toMatchObject([404, { error: { code: 'model_not_found' } }])
  })
})

describe('routes that SDKs have methods for', () => {
  const known = { ...token, 'x-svc-scenario': 'sdks' }
  const recordOf = async (receipt: unknown) => (await here.get(`/svc/scenarios/sdks/records/${String(receipt)}`, token)).json

  it.each([
    ['/v1/responses/input_tokens', { object: 'response.input_tokens', input_tokens: 7 }],
    ['/v1/responses/compact', { id: 'c', object: 'response.compaction', output: [{ type: 'compaction', encrypted_content: 'x' }] }],
  ])('%s goes to the upstream as it came, and is recorded', async (path, said) => {
    here.upstream.answer((_received, response) => sendJson(response, 200, said))
    const body = '{ "model":"m", "input":"hi" }'
    const answer = await here.post(path, body, known)
    expect([answer.status, answer.json]).toEqual([200, said])
    expect(here.upstream.received.at(-1)).toMatchObject({ url: path, body: Buffer.from(body) })
    expect(await recordOf(answer.headers['x-svc-agent-record-id'])).toMatchObject({ payload: { input: 'hi', response: said } })
    expect((await here.post(path, body, token)).json).toMatchObject({ error: { code: 'scenario_missing' } })
  })

  it('the mock model counts the tokens of an input, and answers what stands for a shorter conversation', async () => {
    const mock = await ownWorld({ settings: { 'inference.runtime': 'practice' } })
    const asked = { model: 'm', input: 'What is 2 + 2?' }
    const counted = (await mock.post('/v1/responses/input_tokens', asked, { 'x-svc-scenario': 's' })).json
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: expect.any(Number) })
    const compact = await mock.post('/v1/responses/compact', asked, { 'x-svc-scenario': 's' })
    expect([compact.status, compact.json]).toMatchObject([200, { object: 'response.compaction' }])
    expect((await mock.get('/v1/models/m')).status).toBe(404)
    expect((await mock.get('/v1/models/practice')).json).toMatchObject({ id: 'practice', object: 'model' })
  })

  it('/v1/completions is named as not served, and not asked for again', async () => {
    const answer = await here.post('/v1/completions', { model: 'm', prompt: 'x' }, known)
    expect([answer.status, answer.headers['x-should-retry'], answer.json]).toMatchObject([501, 'false', { error: { code: 'not_served' } }])
    expect((await here.post('/v1/completions', {})).status).toBe(401)
  })
})

describe('GET /v1/responses', () => {
  const upgrade = {
    ...token,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  }

  it('that asks for a socket is answered 426 at once [decisions.inference-websocket]', async () => {
    const answer = await here.get('/v1/responses', upgrade)
    expect([answer.status, answer.headers['allow']]).toEqual([426, 'POST'])
    expect(answer.json).toMatchObject({ error: { code: 'upgrade_required' } })
  })

  it('leaves the connection usable for the POST that follows', async () => {
    expect((await here.post('/v1/responses', '{}', { ...upgrade, 'x-svc-scenario': 's' })).status).toBe(200)
  })
})
