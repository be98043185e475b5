/** A service with several upstreams: who answers, what is kept of it, and what clients and operators see. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { recordsOf } from '../support/kept.ts'
import { answerPlainly, breakOffAfter, chatFrames, sendJson, startUpstream, type Upstream } from '../support/upstream.ts'
import { world, type World } from '../support/world.ts'

const KEYS = { main: 'sk-key-of-main-0123456789', spare: 'sk-key-of-spare-0123456789' }

let main: Upstream
let spare: Upstream
let here: World
let scenarios = 0
let scenario = ''
beforeAll(async () => {
  ;[main, spare] = [await startUpstream(), await startUpstream()]
  here = await world({
    settings: {
      'inference.upstream_url': null,
      'inference.upstreams.main.url': main.url,
      'inference.upstreams.main.api_key': KEYS.main,
      'inference.upstreams.main.formats': '[chat, messages]',
      'inference.upstreams.main.aliases': '{best: large-1}',
      'inference.upstreams.spare.url': spare.url,
      'inference.upstreams.spare.api_key': KEYS.spare,
      'inference.upstreams.spare.models': '[m, best]',
      'inference.upstreams.spare.priority': 1,
      'inference.upstream_retries': 1,
      'inference.breaker.failures': 1000,
    },
  })
})
beforeEach(() => {
  scenario = `several-${++scenarios}`
  for (const upstream of [main, spare]) {
    upstream.answer(answerPlainly)
    upstream.received.length = 0
  }
})
afterAll(async () => {
  await here.close()
  await main.close()
  await spare.close()
})

const ask = (body: object = {}, path = '/v1/chat/completions') =>
  here.post(path, { model: 'm', messages: [], ...body }, { 'x-svc-scenario': scenario })
const fail = (upstream: Upstream, status = 500, words = 'no'): void =>
  upstream.answer((_received, response) => sendJson(response, status, { error: { message: words, type: 'server_error' } }))
const keptOf = async () => (await recordsOf(here, scenario))[0]

describe('the record', () => {
  it('names the upstream that answered, and has the request as it was sent', async () => {
    await ask({ model: 'best' })
    expect(main.received[0]).toMatchObject({ headers: { authorization: `Bearer ${KEYS.main}` } })
    expect(JSON.parse(main.received[0]?.body.toString() ?? '')).toMatchObject({ model: 'large-1' })
    expect(await keptOf()).toMatchObject({ summary: { upstream: 'main' }, payload: { model: 'best' } })
  })

  it('names the next one where the first gave no answer, whole and streamed', async () => {
    fail(main, 503)
    expect((await ask()).status).toBe(200)
    expect(await keptOf()).toMatchObject({ summary: { upstream: 'spare' } })
    scenario += '-streamed'
    expect((await ask({ stream: true })).text).toContain('hello')
    expect(await keptOf()).toMatchObject({ summary: { upstream: 'spare', stream: true } })
    expect(here.log.filter((line) => line['scenario'] === scenario && line['upstream'] === 'spare')).toHaveLength(1)
  })

  it('of a stream that broke off has that one alone, and nothing of another', async () => {
    main.answer(breakOffAfter(chatFrames.slice(0, 2)))
    await ask({ stream: true }).catch(() => undefined)
    expect(spare.received).toEqual([])
    expect(await keptOf()).toMatchObject({ summary: { upstream: 'main', complete: false } })
  })
})

describe('a refusal', () => {
  it('of the last upstream is relayed without its key', async () => {
    fail(main)
    fail(spare, 429, `the key ${KEYS.spare} is over its limit`)
    const answer = await ask()
    expect(answer.status).toBe(429)
    expect(answer.text).toContain('over its limit')
    expect(answer.text).not.toContain(KEYS.spare)
    expect(await recordsOf(here, scenario)).toEqual([])
  })

  it.each([
    ['a model that the chosen upstream has not', { model: 'x' }, { upstreams: ['spare'] }, 404, 'model_not_found'],
    ['a count that it cannot make', { contents: [] }, { upstreams: ['main'] }, 501, 'format_not_spoken'],
    ['what cannot be translated', { input: 'x', previous_response_id: 'r' }, { upstreams: ['main'] }, 400, 'cannot_translate'],
  ] as const)('of %s has a code of its own', async (_what, body, model, status, code) => {
    await here.post('/svc/scenarios', { name: scenario, model })
    const path = 'input' in body ? '/v1/responses' : 'contents' in body ? '/v1beta/models/m:countTokens' : undefined
    const answer = await ask(body, path)
    expect([answer.status, answer.json]).toMatchObject([status, { error: 'contents' in body ? { details: [{ reason: code }] } : { code } }])
    expect([...main.received, ...spare.received]).toEqual([])
  })
})

describe('a scenario', () => {
  it('chooses among them, and takes all of them again', async () => {
    const { json } = await here.post('/svc/scenarios', { name: scenario, model: { upstreams: ['spare'] } })
    expect(json).toMatchObject({ model: { upstreams: ['spare'] } })
    await ask()
    expect(spare.received).toHaveLength(1)
    const { json: again } = await here.post(`/svc/scenarios/${scenario}/update`, { model: null })
    expect(again).toMatchObject({ model: { upstreams: ['main', 'spare'] } })
    await ask()
    expect(main.received).toHaveLength(1)
  })

  it('that names the address of one gets neither its key nor any other', async () => {
    const { json } = await here.post('/svc/scenarios', { name: scenario, model: { url: main.url } })
    expect(json).toMatchObject({ model: { url: main.url, has_api_key: false } })
    expect((await ask()).status).toBe(200)
    expect(main.received).toHaveLength(1)
    expect(main.received[0]?.headers).not.toHaveProperty('authorization')
    await here.post(`/svc/scenarios/${scenario}/update`, { model: { url: main.url, api_key: 'its-own' } })
    await ask()
    expect(main.received[1]?.headers.authorization).toBe('Bearer its-own')
  })

  it.each([
    [{ upstreams: ['unheard'] }, 'unknown_upstream', 'model.upstreams: names one that is not configured; there are main, spare'],
    [{ upstreams: [] }, 'invalid_field', 'model.upstreams: must be a list of names under inference.upstreams'],
    [{ upstreams: ['main'], url: 'http://x.example' }, 'upstream_unclear', 'model.upstreams: stands beside model.url; give one of them'],
    [{ api_key: 'k' }, 'upstream_unclear', /^model\.api_key: belongs to one address/],
  ])('with %j is refused', async (model, code, message) => {
    const { status, json } = await here.post('/svc/scenarios', { name: scenario, model })
    expect([status, json]).toMatchObject([400, { error: { code, message: expect.stringMatching(message) } }])
  })
})

const lists = (upstream: Upstream, id: string): void =>
  upstream.answer((_received, response) => sendJson(response, 200, { data: [{ id, object: 'model' }] }))

it('models are listed together, for a scenario only its own', async () => {
  lists(main, 'large-1')
  lists(spare, 'm')
  const idsOf = async (headers = {}) => {
    const { data } = (await here.get('/v1/models', headers)).json
    return Array.isArray(data) ? data.map((model) => Object(model).id) : null
  }
  expect(await idsOf()).toEqual(['large-1', 'best', 'm'])
  await here.post('/svc/scenarios', { name: scenario, model: { upstreams: ['spare'] } })
  expect(await idsOf({ 'x-svc-scenario': scenario })).toEqual(['m'])
})

it('the status says how each fares, without keys', async () => {
  fail(main)
  await ask()
  const { text, json } = await here.get('/svc/status')
  expect(json).toMatchObject({
    serving: {
      upstreams: expect.arrayContaining([
        expect.objectContaining({
          name: 'main',
          url: main.url,
          breaker: 'closed',
          last_failure: { at: expect.any(Number), reason: 'status 500' },
        }),
        expect.objectContaining({ name: 'spare' }),
      ]),
    },
  })
  for (const key of Object.values(KEYS)) expect(text).not.toContain(key)
})
