/** Traces of requests, as a collector gets them. */
import { describe, expect, it } from 'vitest'
import { openStream, sendAndListen } from '../support/client.ts'
import { KIND } from '../support/collector.ts'
import { only, traced } from '../support/traced.ts'
import { beginFrames, chatFrames, sendJson } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const scenario = { 'x-svc-scenario': 'traced' }
const chat = '/v1/chat/completions'
const PROMPT = 'what only the two of us may know'
const body = { model: 'm', messages: [{ role: 'user', content: PROMPT }], max_tokens: 7, temperature: 1 }

const answered = (id: string, finish: string, provider: string) => ({
  'gen_ai.response.id': id,
  'gen_ai.response.finish_reasons': [finish],
  'gen_ai.provider.name': provider,
})

describe('an exchange', () => {
  const answers = [
    [chat, answered('chatcmpl-1', 'stop', 'openai')],
    ['/v1/responses', answered('resp_1', 'completed', 'openai')],
    ['/v1/messages', answered('msg_1', 'end_turn', 'anthropic')],
  ] as const
  const outputs = new Map([
    [`${chat} whole`, 1n],
    ['/v1/messages whole', 1n],
    ['/v1/messages streamed', 2n],
  ])
  const both = answers.flatMap(([path, answer]) => (['whole', 'streamed'] as const).map((way) => [path, way, answer] as const))

  it.each(both)('at %s, %s, is a span of the request and below it one of the call to the model', async (path, way, response) => {
    const { here, over } = await traced()
    const isStream = way === 'streamed'
    const answer = await here.post(path, { ...body, ...(isStream && { stream: true }) }, scenario)
    const receipt = isStream ? /"svc.agent_record_id":"([0-9a-f]{32})"/.exec(answer.text)?.[1] : answer.headers['x-svc-agent-record-id']
    const spans = await over()
    const [server, client] = [only(spans, KIND.server), only(spans, KIND.client)]
    expect(server).toMatchObject({ name: `POST ${path}`, service: 'svc', status: {} })
    expect(server.parentSpanId).toBeUndefined()
    expect(server.attributes).toEqual({
      'http.request.method': 'POST',
      'url.scheme': 'http',
      'url.path': path,
      'http.route': path,
      'http.response.status_code': 200n,
      'svc.request_id': answer.headers['x-request-id'],
      'svc.scenario': 'traced',
      'svc.receipt': receipt,
    })
    expect(client).toMatchObject({ name: 'chat m', traceId: server.traceId, parentSpanId: server.spanId, status: {} })
    const { 'gen_ai.response.time_to_first_chunk': first, ...attributes } = client.attributes
    expect(typeof first).toBe(isStream ? 'number' : 'undefined')
    const output = outputs.get(`${path} ${way}`)
    expect(attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'server.address': '127.0.0.1',
      'server.port': BigInt(new URL(here.upstream.url).port),
      'gen_ai.request.model': 'm',
      'gen_ai.request.max_tokens': 7n,
      'gen_ai.request.temperature': 1,
      ...(isStream && { 'gen_ai.request.stream': true }),
      'gen_ai.response.model': 'm',
      ...response,
      ...(output !== undefined && { 'gen_ai.usage.input_tokens': 1n, 'gen_ai.usage.output_tokens': output }),
    })
    expect(client.begun >= server.begun && client.ended <= server.ended).toBe(true)
    expect(here.upstream.received[0]?.headers['traceparent']).toBe(`00-${server.traceId}-${client.spanId}-01`)
  })

  it('has its cost where the table of prices has the model, and a report on it the score and the receipt', async () => {
    const { here, over } = await traced({ 'limits.prices.m.input': 2_000_000, 'limits.prices.m.output': 3_000_000 })
    const receipt = await here.exchange('traced')
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    here.upstream.answer((_, response) => sendJson(response, 200, { id: 'x', model: 'unlisted', choices: [], usage }))
    expect((await here.post(chat, { ...body, model: 'other' }, scenario)).status).toBe(200)
    expect((await here.post('/svc/report', { references: [receipt], score: 0.75 }, scenario)).status).toBe(200)
    const spans = await over()
    // One token in and one out.
    const calls = spans.filter(({ kind }) => kind === KIND.client)
    expect(calls.map(({ attributes }) => attributes['gen_ai.usage.cost'])).toEqual([5, undefined])
    const report = spans.find(({ name }) => name === 'POST /svc/report')
    expect(report?.attributes).toMatchObject({ 'gen_ai.evaluation.score.value': 0.75, 'svc.reported_receipts': [receipt] })
  })

  it('of an evaluation, which is not recorded, is traced alike', async () => {
    const { here, over } = await traced()
    await here.exchange('traced')
    await here.post(`/svc/scenarios/traced/evaluation${chat}`, body)
    const played = (await over()).filter(({ attributes }) => String(attributes['http.route']).includes('/evaluation/'))
    expect(played).toMatchObject([{ attributes: { 'svc.scenario': 'traced', 'http.response.status_code': 200n } }])
    expect(played[0]?.attributes).not.toHaveProperty(['svc.receipt'])
    expect(here.upstream.received[1]?.headers['traceparent']).toContain(played[0]?.traceId)
  })

  it('that counts tokens is named by that', async () => {
    const { here, over } = await traced()
    await here.post('/v1/messages/count_tokens', body, scenario)
    const attributes = { 'gen_ai.operation.name': 'count_tokens' }
    expect(only(await over(), KIND.client)).toMatchObject({ name: 'count_tokens m', attributes })
  })

  it('with the embedded model names no server', async () => {
    const { here, over } = await traced({ 'inference.runtime': 'practice' })
    await here.post(chat, body, scenario)
    const { attributes } = only(await over(), KIND.client)
    expect(attributes).toMatchObject({ 'gen_ai.provider.name': 'svc' })
    expect(attributes).not.toHaveProperty(['server.address'])
  })

  it('is hostile: its names are cut, its numbers left out, and its spans still taken', async () => {
    const { here, over } = await traced()
    const model = `\ud800${'x'.repeat(5000)}`
    await here.post(chat, `{"model":${JSON.stringify(model)},"max_tokens":1e400,"temperature":"hot","messages":[]}`, scenario)
    await here.post(chat, `{"model":{},"max_tokens":1.5,"temperature":1e400,"messages":[]}`, scenario)
    const [first, second] = (await over()).filter(({ kind }) => kind === KIND.client)
    expect(first?.name.length).toBeLessThan(300)
    expect(String(first?.attributes['gen_ai.request.model'])).toMatch(/^\ufffdx{1023}$/)
    for (const span of [first, second]) {
      expect(span?.attributes).not.toHaveProperty(['gen_ai.request.max_tokens'])
      expect(span?.attributes).not.toHaveProperty(['gen_ai.request.temperature'])
    }
  })
})

const message = (role: string, content: string, more = {}) => [{ role, parts: [{ type: 'text', content }], ...more }]

describe('what was said', () => {
  it('is in no span', async () => {
    const { here, collector, over } = await traced()
    await here.post(chat, body, scenario)
    await here.post(chat, { ...body, stream: true }, scenario)
    expect(await over()).toHaveLength(4)
    const posted = collector.posts.map(({ text }) => text).join()
    expect(posted).not.toContain(PROMPT)
    expect(posted).not.toContain('hello')
  })

  it('is in spans where that is switched on', async () => {
    const { here, over } = await traced({ 'traces.content': true })
    await here.post(chat, { ...body, stream: true }, scenario)
    const { attributes } = only(await over(), KIND.client)
    expect(JSON.parse(String(attributes['gen_ai.input.messages']))).toEqual(message('user', PROMPT))
    expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toEqual(message('assistant', 'hello world', { finish_reason: 'stop' }))
  })

  it("is in spans of Gemini's format too", async () => {
    const { here, over } = await traced({ 'traces.content': true })
    const parts = [{ text: 'hello' }]
    here.upstream.answer((_received, response) => sendJson(response, 200, { candidates: [{ content: { parts }, finishReason: 'STOP' }] }))
    await here.post('/v1beta/models/m:generateContent', { contents: [{ parts: [{ text: PROMPT }] }] }, scenario)
    const { attributes } = only(await over(), KIND.client)
    expect(JSON.parse(String(attributes['gen_ai.input.messages']))).toEqual(message('user', PROMPT))
    expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toEqual(message('assistant', 'hello', { finish_reason: 'STOP' }))
  })
})

it('of an exchange that is redacted has nothing that a client or an upstream chose but the configured model', async () => {
  const told = 'zoe.q@example.org'
  const { here, over } = await traced({ 'recording.mode': 'redacted', 'inference.upstream_model': 'm' })
  here.upstream.answer((_received, response) =>
    sendJson(response, 200, { id: told, model: told, choices: [{ index: 0, message: { content: '' }, finish_reason: told }] }),
  )
  await here.post(chat, body, scenario)
  await here.post(chat, { ...body, model: told }, scenario)
  await here.post(`/v1beta/models/${told}:generateContent`, { contents: [] }, scenario)
  here.upstream.answer((_received, response) => sendJson(response, 400, { error: { message: told, code: told } }))
  await here.post(chat, body, scenario)
  await here.get(`/users/${told}`)
  const spans = await over()
  expect(JSON.stringify(spans, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))).not.toContain('example.org')
  expect(spans.map(({ name }) => name)).toContain('chat m')
})

describe('a failure', () => {
  it("of the caller's request is in its span and no failure of the service", async () => {
    const { here, over } = await traced()
    await here.post(chat, body)
    expect(await over()).toMatchObject([
      { kind: KIND.server, status: {}, attributes: { 'http.response.status_code': 400n, 'error.type': 'scenario_missing' } },
    ])
  })

  it('by an unknown route is a span without one', async () => {
    const { here, over } = await traced()
    await here.get('/nowhere/near?secret=1')
    const [span] = await over()
    expect(span).toMatchObject({ name: 'GET', attributes: { 'url.path': '/nowhere/near', 'http.response.status_code': 404n } })
    expect(span?.attributes).not.toHaveProperty(['http.route'])
  })

  it('of the model when it refuses is its failure, and the answer that is relayed', async () => {
    const { here, over } = await traced()
    here.upstream.answer((_received, response) => sendJson(response, 429, { error: { message: 'slow down', code: 'rate_limited' } }))
    await here.post(chat, body, scenario)
    const spans = await over()
    const attributes = { 'http.response.status_code': 429n, 'error.type': 'rate_limited' }
    expect(only(spans, KIND.server)).toMatchObject({ status: {}, attributes })
    expect(only(spans, KIND.client)).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'rate_limited' } })
  })

  it('of a model that is not there is a failure of both', async () => {
    const { here, over } = await traced()
    here.upstream.answer((_received, response) => void response.destroy())
    expect(await here.post(chat, body, scenario)).toMatchObject({ status: 502 })
    const spans = await over()
    const failed = { status: { code: 2 }, attributes: { 'error.type': 'upstream_unreachable' } }
    expect([only(spans, KIND.server), only(spans, KIND.client)]).toMatchObject([failed, failed])
  })

  it('by a client that leaves in the middle of a stream is reported with what came so far', async () => {
    const { here, over } = await traced()
    here.upstream.answer((_received, response) => void beginFrames(response, chatFrames.slice(0, 2)))
    const stream = await openStream(here.address, chat, { ...body, stream: true }, scenario)
    await stream.seen('data: ')
    stream.drop()
    await until(() => here.log.some(({ event }) => event === 'request'))
    const spans = await over()
    const failed = { status: { code: 2, message: 'the client closed the connection' }, attributes: { 'error.type': 'stream_interrupted' } }
    expect([only(spans, KIND.server), only(spans, KIND.client)]).toMatchObject([failed, failed])
    expect(only(spans, KIND.client).attributes).toMatchObject({ 'gen_ai.response.id': 'chatcmpl-1' })
  })

  it('by a client that leaves before there is an answer has no status', async () => {
    const { here, over } = await traced()
    here.upstream.answer(() => undefined)
    const asked = sendAndListen(here.address, chat, body, scenario)
    await until(() => here.upstream.open === 1)
    asked.drop()
    await until(() => here.log.some(({ event }) => event === 'request'))
    const spans = await over()
    const gone = { status: { code: 2 }, attributes: { 'error.type': 'client_gone' } }
    expect([only(spans, KIND.server), only(spans, KIND.client)]).toMatchObject([gone, gone])
    expect(only(spans, KIND.server).attributes).not.toHaveProperty(['http.response.status_code'])
  })
})

describe('the trace of a caller', () => {
  it('is continued, up to the model', async () => {
    const { here, over } = await traced({ 'traces.sample_ratio': 0 })
    await here.post(chat, body, { ...scenario, traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=a' })
    const spans = await over()
    const client = only(spans, KIND.client)
    expect(only(spans, KIND.server)).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: 'vendor=a' })
    expect(here.upstream.received[0]?.headers).toMatchObject({ traceparent: `00-${TRACE}-${client.spanId}-01`, tracestate: 'vendor=a' })
  })

  it('that is not kept there gets no spans here, and the model is sent that', async () => {
    const { here, over } = await traced()
    await here.post(chat, body, { ...scenario, traceparent: `00-${TRACE}-${PARENT}-00` })
    expect(await over()).toEqual([])
    expect(here.upstream.received[0]?.headers['traceparent']).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
  })

  it('that has none yet begins here, and is kept by the ratio', async () => {
    const { here, over } = await traced({ 'traces.sample_ratio': 0 })
    await here.post(chat, body, scenario)
    expect(await over()).toEqual([])
    expect(here.upstream.received[0]?.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  })
})
