/** Real clients of three formats on upstreams that speak another one alone. The upstream is the mock model, which speaks them all by itself. */
import Anthropic from '@anthropic-ai/sdk'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, jsonSchema, streamText, tool, type LanguageModel, type ToolSet } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { callOf, practice } from '../../plugins/runtimes/practice/testing.ts'
import { isObject, type JsonObject } from '../../src/contract/index.ts'
import { dialectOfCall } from '../../src/dialects/index.ts'
import { recordsOf } from '../support/kept.ts'
import { breakOffAfter, chatFrames, messageFrames, sendJson, startUpstream, type Script, type Upstream } from '../support/upstream.ts'
import { world, type World } from '../support/world.ts'
import { errorOf, ERROR_CLASSES } from './service.ts'

const FORMATS = ['chat', 'responses', 'messages', 'gemini']

/** Takes requests as strictly as a provider, and answers in the format that it is asked in. */
const model = practice()
const answerInFormat: Script = async ({ url, body }, response) => {
  const dialect = dialectOfCall(url)
  if (dialect === null) throw new Error(`no call of a model: ${url}`)
  const answer = await model.infer(callOf(dialect.name, body.toString(), { path: url }))
  if (answer.kind === 'interrupted') throw new Error('the mock model is never interrupted')
  response.writeHead(answer.status, answer.headers)
  if (answer.kind === 'stream') for await (const chunk of answer.chunks) response.write(chunk)
  response.end(answer.kind === 'whole' ? answer.body : undefined)
}

let here: World
let upstream: Upstream
let scenario = ''
let scenarios = 0
beforeAll(async () => {
  upstream = await startUpstream()
  const upstreams = FORMATS.flatMap((format) => [
    [`inference.upstreams.${format}.url`, upstream.url],
    [`inference.upstreams.${format}.api_key`, `key-of-${format}-0123456789`],
    [`inference.upstreams.${format}.formats`, `[${format}]`],
    [`inference.upstreams.${format}.models`, `[on-${format}]`],
    [`inference.upstreams.${format}.aliases`, `{best-${format}: ${format}-3-pro}`],
  ])
  const settings = { ...Object.fromEntries(upstreams), 'inference.upstream_retries': 0, 'inference.breaker.failures': 0 }
  here = await world({ settings: { ...settings, 'inference.upstream_url': null } })
})
afterAll(async () => {
  await here.close()
  await upstream.close()
})
beforeEach(() => {
  scenario = `translated-${++scenarios}`
  upstream.answer(answerInFormat)
  upstream.received.length = 0
})

const headers = (): Record<string, string> => ({ 'x-svc-scenario': scenario })
const openai = () => new OpenAI({ baseURL: `${here.address}/v1`, apiKey: 'none', defaultHeaders: headers(), maxRetries: 0 })
const anthropic = () => new Anthropic({ baseURL: here.address, apiKey: 'none', defaultHeaders: headers(), maxRetries: 0 })
const asked = (): JsonObject => JSON.parse(upstream.received.at(-1)?.body.toString() ?? '{}')

const CLIENTS: readonly { readonly format: string; readonly make: (id: string) => LanguageModel }[] = [
  { format: 'chat', make: (id) => createOpenAI({ baseURL: `${here.address}/v1`, apiKey: 'none', headers: headers() }).chat(id) },
  { format: 'responses', make: (id) => createOpenAI({ baseURL: `${here.address}/v1`, apiKey: 'none', headers: headers() }).responses(id) },
  { format: 'messages', make: (id) => createAnthropic({ baseURL: `${here.address}/v1`, apiKey: 'none', headers: headers() })(id) },
]
const PAIRS = CLIENTS.flatMap((client) => FORMATS.filter((to) => to !== client.format).map((to) => ({ ...client, to })))

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

describe.each(PAIRS)('a client of $format on an upstream of $to', ({ format, to, make }) => {
  it('uses a tool and gets its answer, whole and streamed; the record says that it was translated', async () => {
    const results: string[] = []
    const calculator: ToolSet = {
      calculator: tool({
        description: 'A calculator.',
        inputSchema: jsonSchema<{ expression: string }>({
          type: 'object',
          properties: { expression: { type: 'string' } },
          required: ['expression'],
          additionalProperties: false,
        }),
        execute({ expression }) {
          results.push(expression)
          return 'The result is 714.'
        },
      }),
    }
    const question = {
      model: make(`on-${to}`),
      system: 'Be brief.',
      prompt: 'What is 17 * 42?',
      tools: calculator,
      stopWhen: isStepCount(3),
      maxRetries: 0,
      maxOutputTokens: 400,
    }
    const whole = await generateText(question)
    const streamed = streamText(question)
    expect(await streamed.text).toBe(whole.text)
    expect(whole.text).toContain('714')
    expect(results).toEqual(['17 * 42', '17 * 42'])
    expect(await streamed.finishReason).toBe('stop')
    expect((await streamed.usage).inputTokens).toBe(whole.usage.inputTokens)
    expect(whole.usage.inputTokens).toBeGreaterThan(0)
    for (const record of await recordsOf(here, scenario)) {
      expect(record).toMatchObject({
        summary: {
          upstream: to,
          upstream_format: to,
          model: expect.any(String),
          input_tokens: expect.any(Number),
          output_tokens: expect.any(Number),
        },
        payload: { model: `on-${to}`, response: { translation: { from: format, to } } },
      })
    }
    expect(upstream.received).toHaveLength(4)
  })

  it('sends a picture along', async () => {
    const image = { type: 'file' as const, data: PIXEL, mediaType: 'image/png' }
    await errorOf(
      generateText({
        model: make(`on-${to}`),
        messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }],
        maxRetries: 0,
        maxOutputTokens: 50,
      }),
    )
    expect(upstream.received.at(-1)?.body.toString()).toContain(PIXEL)
  })
})

describe('the official clients', () => {
  it('of messages stream from a chat upstream, with the receipt on the last event', async () => {
    const stream = anthropic().messages.stream({
      model: 'on-chat',
      max_tokens: 60,
      messages: [{ role: 'user', content: 'What is 2 + 3?' }],
    })
    const types: string[] = []
    stream.on('streamEvent', ({ type }) => void types.push(type))
    const message = await stream.finalMessage()
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      stop_reason: 'end_turn',
      usage: { input_tokens: expect.any(Number) },
    })
    expect(types.at(0)).toBe('message_start')
    expect(types.at(-1)).toBe('message_stop')
    const [record] = await recordsOf(here, scenario)
    expect(record).toMatchObject({ payload: { max_tokens: 60, response: { content: message.content, stream: true, complete: true } } })
    expect(asked()).toMatchObject({ stream: true, stream_options: { include_usage: true }, max_tokens: 60 })
  })

  it('of responses get whole items from a messages upstream', async () => {
    const response = await openai().responses.create({ model: 'on-messages', instructions: 'Be brief.', input: 'What is 2 + 3?' })
    expect(response.output_text).toContain('5')
    expect(response.status).toBe('completed')
    expect(asked()).toMatchObject({ system: [{ type: 'text', text: 'Be brief.' }], max_tokens: 8192 })
    const sent = upstream.received.at(-1)?.headers
    expect(sent).toMatchObject({ 'x-api-key': 'key-of-messages-0123456789', 'anthropic-version': '2023-06-01' })
    expect(sent).not.toHaveProperty('authorization')
  })

  it('of chat get the structure they asked for from a responses upstream', async () => {
    const schema = { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'], additionalProperties: false }
    const { choices } = await openai().chat.completions.create({
      model: 'on-responses',
      messages: [{ role: 'user', content: 'What is 2 + 3?' }],
      response_format: { type: 'json_schema', json_schema: { name: 'sum', schema, strict: true } },
    })
    expect(JSON.parse(choices[0]?.message.content ?? '')).toHaveProperty('answer')
    expect(asked()).toMatchObject({ store: false, text: { format: { type: 'json_schema', name: 'sum', strict: true } } })
  })
})

describe('what is kept', () => {
  it('is the body as the client wrote it, byte for byte, and what was left out', async () => {
    const body =
      '{ "model":"on-chat",  "max_tokens": 50,"metadata":{"user_id":"u"},"messages":[{"role":"user","content":"What is 2 + 3?"}]}'
    const answer = await here.post('/v1/messages', body, headers())
    expect(answer.json).toMatchObject({ type: 'message', stop_reason: 'end_turn' })
    const [record] = await recordsOf(here, scenario)
    const { response, ...request } = isObject(record?.['payload']) ? record['payload'] : {}
    expect(request).toEqual(JSON.parse(body))
    expect(response).toEqual({ ...answer.json, translation: { from: 'messages', to: 'chat', left_out: ['metadata'] } })
  })

  it('is nothing where the request cannot be translated, and the upstream is not asked', async () => {
    const error = await errorOf(
      anthropic().messages.create({
        model: 'on-chat',
        max_tokens: 5,
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
        messages: [{ role: 'user', content: 'x' }],
      }),
    )
    expect(error).toMatchObject({
      status: 400,
      message: expect.stringContaining('tools.0.type: cannot be translated from messages to chat completions'),
    })
    expect(upstream.received).toEqual([])
    expect(await recordsOf(here, scenario)).toEqual([])
  })

  it('of a stream that broke off is what came, in the client’s format', async () => {
    upstream.answer(breakOffAfter(chatFrames.slice(0, 3)))
    const error = await errorOf(
      anthropic()
        .messages.stream({ model: 'on-chat', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] })
        .finalMessage(),
    )
    expect(error).not.toBeNull()
    await expect
      .poll(() => recordsOf(here, scenario))
      .toMatchObject([
        {
          summary: { complete: false, upstream_format: 'chat' },
          payload: { response: { content: [{ text: 'hello world' }], complete: false, translation: { from: 'messages', to: 'chat' } } },
        },
      ])
  })

  it('has no counts where the upstream gives none', async () => {
    upstream.answer((_received, response) =>
      sendJson(response, 200, { choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }] }),
    )
    await anthropic().messages.create({ model: 'on-chat', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] })
    const [record] = await recordsOf(here, scenario)
    expect(record).toHaveProperty('summary.upstream_format')
    expect(record).not.toHaveProperty('summary.input_tokens')
  })

  it('is not translated where an upstream of the model speaks the format', async () => {
    await anthropic().messages.create({ model: 'on-messages', max_tokens: 50, messages: [{ role: 'user', content: 'What is 2 + 3?' }] })
    const [record] = await recordsOf(here, scenario)
    expect(record).not.toHaveProperty('payload.response.translation')
    expect(record).not.toHaveProperty('summary.upstream_format')
  })
})

describe('a name of the client’s own for a model', () => {
  it.each(FORMATS.filter((format) => format !== 'messages'))('is the upstream’s own name on %s, and decides what is sent', async (to) => {
    await anthropic().messages.create({
      model: `best-${to}`,
      max_tokens: 50,
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'a cat' }] },
      ],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
    })
    const sent = upstream.received.map(({ url, body }) => `${url} ${body.toString()}`).join('\n')
    expect(sent).not.toContain('best')
    expect(sent).toContain(`${to}-3-pro`)
    expect(sent.includes('skip_thought_signature_validator')).toBe(to === 'gemini')
    expect((await recordsOf(here, scenario))[0]).toMatchObject({ payload: { model: `best-${to}` } })
  })
})

const askAt = (to: World, path: string, body: object) => to.post(path, { model: 'm', ...body }, headers())

describe('the one upstream of a deployment, or of a scenario', () => {
  const messages = [{ role: 'user', content: 'What is 2 + 3?' }]

  it('serves clients of other formats where it says what it speaks, and refuses what cannot be translated by name', async () => {
    const one = await world({ settings: { 'inference.upstream_url': upstream.url, 'inference.upstream_formats': '[messages]' } })
    onTestFinished(() => one.close())
    const chat = await askAt(one, '/v1/chat/completions', { messages })
    expect([chat.status, chat.json]).toMatchObject([200, { object: 'chat.completion' }])
    expect(upstream.received.map(({ url }) => url)).toEqual(['/v1/messages'])
    expect((await askAt(one, '/v1/responses', { input: 'What is 2 + 3?' })).json).toMatchObject({ object: 'response' })
    expect((await askAt(one, '/v1/messages', { messages, max_tokens: 5 })).json).not.toHaveProperty('translation')
    const kept = await recordsOf(one, scenario)
    expect(kept.filter(({ summary }) => isObject(summary) && summary['upstream_format'] === 'messages')).toHaveLength(2)
    expect(kept).toHaveLength(3)
    upstream.received.length = 0
    const count = await one.post('/v1beta/models/m:countTokens', { contents: [{ parts: [{ text: 'x' }] }] }, headers())
    expect([count.status, count.json]).toMatchObject([501, { error: { details: [{ reason: 'format_not_spoken' }] } }])
    expect(upstream.received).toEqual([])
  })

  it('is asked as the client asks where it says nothing', async () => {
    const one = await world({ settings: { 'inference.upstream_url': upstream.url } })
    onTestFinished(() => one.close())
    await askAt(one, '/v1/chat/completions', { messages })
    expect(upstream.received.map(({ url }) => url)).toEqual(['/v1/chat/completions'])
  })

  it('may be named by a scenario with what it speaks', async () => {
    const { json } = await here.post('/svc/scenarios', { name: scenario, model: { url: upstream.url, formats: ['gemini', 'chat'] } })
    expect(json).toMatchObject({ model: { formats: ['gemini', 'chat'] } })
    expect((await askAt(here, '/v1/messages', { messages, max_tokens: 50 })).json).toMatchObject({ type: 'message' })
    expect(upstream.received.map(({ url }) => url)).toEqual(['/v1beta/models/m:generateContent'])
    for (const bad of [{ formats: ['chat'] }, { url: upstream.url, formats: [] }, { url: upstream.url, formats: ['smoke'] }])
      expect((await here.post('/svc/scenarios', { name: `${scenario}-bad`, model: bad })).status).toBe(400)
  })
})

describe('errors of the upstream', () => {
  const said: Readonly<Record<string, object>> = {
    chat: { error: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' } },
    messages: { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' }, request_id: 'r' },
    gemini: { error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } },
  }

  it.each([
    ['messages', 'chat', { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }],
    ['messages', 'gemini', { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }],
    ['chat', 'messages', { error: { message: 'slow down', type: 'rate_limit_error' } }],
    ['chat', 'gemini', { error: { message: 'slow down', type: 'rate_limit_error' } }],
  ])('have the shape of %s when %s refuses', async (client, to, shape) => {
    upstream.answer((_received, response) => sendJson(response, 429, said[to] ?? {}, { 'retry-after': '3' }))
    const path = client === 'messages' ? '/v1/messages' : '/v1/chat/completions'
    const answer = await here.post(path, { model: `on-${to}`, max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }, headers())
    expect(answer.status).toBe(429)
    expect(answer.headers['retry-after']).toBe('3')
    expect(answer.json).toMatchObject(shape)
    expect('type' in answer.json).toBe(client === 'messages')
  })

  it('are the errors that clients know by their class', async () => {
    for (const [status, name] of Object.entries(ERROR_CLASSES)) {
      upstream.answer((_received, response) => sendJson(response, Number(status), said['messages'] ?? {}))
      const error = await errorOf(openai().responses.create({ model: 'on-messages', input: 'x' }))
      expect(error?.constructor.name).toBe(name)
    }
  })

  it('in the middle of a stream are an event of the client’s format', async () => {
    upstream.answer((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(messageFrames.slice(0, 3).join(''))
      response.end('event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"too much"}}\n\n')
    })
    const answer = await here.post(
      '/v1/chat/completions',
      { model: 'on-messages', stream: true, messages: [{ role: 'user', content: 'x' }] },
      headers(),
    )
    expect(answer.text).toContain('"error":{"message":"too much"')
    expect(answer.text).not.toContain('[DONE]')
    expect(await recordsOf(here, scenario)).toMatchObject([{ payload: { response: { complete: false, cause: 'too much' } } }])
  })

  it('that echo the key that the upstream was asked with do not pass it on', async () => {
    const failed = { status: 'failed', output: [], error: { code: 'server_error', message: 'bad key-of-responses-0123456789' } }
    upstream.answer((_received, response) => sendJson(response, 200, failed))
    const answer = await here.post('/v1/chat/completions', { model: 'on-responses', messages: [{ role: 'user', content: 'x' }] }, headers())
    expect(answer.status).toBe(502)
    expect(answer.text).toContain('bad ')
    expect(answer.text).not.toContain('0123456789')
  })

  it('that are an event longer than the service holds end the call', async () => {
    upstream.answer((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = (): void => {
        while (!response.destroyed && response.write('a'.repeat(1 << 20))) void 0
        if (!response.destroyed) response.once('drain', more)
      }
      response.write('data: "')
      more()
    })
    const cancelled = upstream.cancelled
    const asking = here.post(
      '/v1/chat/completions',
      { model: 'on-messages', stream: true, messages: [{ role: 'user', content: 'x' }] },
      headers(),
    )
    expect(await errorOf(asking)).not.toBeNull()
    await expect.poll(() => upstream.cancelled).toBe(cancelled + 1)
    await expect.poll(() => recordsOf(here, scenario)).toMatchObject([{ summary: { complete: false } }])
  })

  it('that are no JSON, or an answer of another kind, are 502', async () => {
    upstream.answer((_received, response) => sendJson(response, 200, { content: [{ type: 'server_tool_use' }] }))
    const answer = await here.post('/v1/chat/completions', { model: 'on-messages', messages: [{ role: 'user', content: 'x' }] }, headers())
    expect([answer.status, answer.json]).toMatchObject([502, { error: { code: 'upstream_untranslatable' } }])
    upstream.answer((_received, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('no'))
    const other = await here.post('/v1/chat/completions', { model: 'on-messages', messages: [{ role: 'user', content: 'x' }] }, headers())
    expect([other.status, other.json]).toMatchObject([502, { error: { code: 'upstream_not_json' } }])
  })
})
