import { buffer } from 'node:stream/consumers'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { sharedFolder } from '../../../test/support/folder.ts'
import { read } from '../../../test/support/reading.ts'
import { upstream, type ChatAnswer, type Dialect, type JsonObject, type RuntimeAnswer } from '../../contract/index.ts'
import { dialects } from '../../dialects/index.ts'
import { makeWeightRuntime } from './runtime.ts'
import { adapterFolder, answerOf, ScriptedEngine } from './testing.ts'

const root = sharedFolder()
const NEVER = new AbortController().signal
const ADAPTER = 'svc.YQ.ab.1'
const CALL = { tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }], content: null }
const SPANS = { spans: [{ start: 0, end: 2, adapter: null }], tokens: 2 }
const SCHEMA = { type: 'object' as const, properties: { a: { type: 'number' } } }

function open(said?: ChatAnswer) {
  const engine = new ScriptedEngine()
  const asked: JsonObject[] = []
  engine.answers = ({ body }) => {
    asked.push(body)
    return said ?? null
  }
  const runtime = makeWeightRuntime(engine, { name: 'llama', modelName: 'base', clock: () => 1_700_000_000.5 })
  const infer = (dialect: Dialect, body: unknown, signal: AbortSignal = NEVER): Promise<RuntimeAnswer> =>
    runtime.infer({
      dialect,
      body: Buffer.from(JSON.stringify(body)),
      path: isStreamed(body) ? '/v1beta/models/m:streamGenerateContent' : '/v1beta/models/m:generateContent',
      headers: {},
      model: { url: 'http://localhost', model: null, apiKey: null, api: 'openai' },
      release: { release_id: 'r', parent_release_id: null, content_id: 'c' },
      purpose: 'traffic',
      signal,
    })
  return { engine, asked, runtime, infer }
}

const isStreamed = (body: unknown): boolean => typeof body === 'object' && body !== null && 'stream' in body

async function bytesOf(answer: RuntimeAnswer): Promise<Buffer> {
  if (answer.kind === 'interrupted') throw new Error('there is an answer')
  return answer.kind === 'whole' ? Buffer.from(answer.body) : buffer(answer.chunks)
}
const jsonOf = async (answer: RuntimeAnswer): Promise<JsonObject> => JSON.parse((await bytesOf(answer)).toString())

/** The official clients, talking to the runtime instead of a network. */
function fetchOf(infer: (dialect: Dialect, body: unknown) => Promise<RuntimeAnswer>) {
  return async (url: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
    const path = String(url)
    const dialect = path.includes('chat') ? 'chat' : path.includes('responses') ? 'responses' : 'messages'
    const answer = await infer(dialect, JSON.parse(String(init?.body)))
    if (answer.kind === 'interrupted') throw new Error('there is an answer')
    return new Response(new Uint8Array(await bytesOf(answer)), { status: answer.status, headers: answer.headers })
  }
}

const TEXT = answerOf('hello', SPANS)
const TOOLS = answerOf('', SPANS, CALL)
const BOTH = answerOf('I add', SPANS, { tool_calls: CALL.tool_calls })
const LENGTH = answerOf('hel', SPANS, {}, { finish_reason: 'length' })
const BODIES = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'hi' }], stream_options: { include_usage: true } },
  messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: 'm', input: 'hi', tools: [{ type: 'custom', name: 'patch' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
} as const
const CUSTOM = answerOf('', SPANS, {
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'patch', arguments: '{"input":"*** Begin"}' } }],
})

describe.each(['chat', 'messages', 'responses', 'gemini'] as const)('%s', (dialect) => {
  it.each(Object.entries({ TEXT, TOOLS, BOTH, LENGTH, CUSTOM }))('streams the same answer that it gives whole: %s', async (_name, said) => {
    const { infer } = open(said)
    const streamed = await infer(dialect, { ...BODIES[dialect], stream: true })
    if (streamed.kind !== 'stream') throw new Error('it streams')
    const { reader, terminal } = read(dialects[dialect], await bytesOf(streamed))
    expect(terminal).not.toBeNull()
    expect(reader.failure).toBeNull()
    expect(reader.answer()).toEqual(streamed.whole?.answer)
    expect(streamed.whole?.capture.tokens).toHaveLength(2)
    const whole = await jsonOf(await infer(dialect, BODIES[dialect]))
    expect(withoutIds(whole)).toEqual(withoutIds(reader.answer()))
  })

  it('sends the engine only a chat request of its own', async () => {
    const { infer, asked } = open(TEXT)
    await infer(dialect, { ...BODIES[dialect], stream: true, return_meta_info: true })
    expect(asked[0]).toMatchObject({ model: 'base', messages: [{ role: 'user', content: 'hi' }] })
    for (const key of ['lora_path', 'return_meta_info', 'stream', 'stream_options', 'input']) expect(asked[0]).not.toHaveProperty(key)
  })

  it.each([
    [400, { error: { message: 'too long', type: 'invalid_request_error', code: 'context' } }, 'too long'],
    [422, { object: 'error', message: 'not so', type: 'BadRequestError' }, 'not so'],
    [503, { detail: 'later' }, 'later'],
    [500, {}, 'the engine refused the request'],
  ])('relays a refusal of the engine with its status and words: %s', async (status, answer, words) => {
    const { infer } = open({ kind: 'refused', status, answer })
    const refused = await infer(dialect, BODIES[dialect])
    expect(refused).toMatchObject({ kind: 'whole', status })
    expect(await jsonOf(refused)).toMatchObject({
      error: { message: words, [dialect === 'gemini' ? 'status' : 'type']: expect.any(String) },
    })
  })

  it('is interrupted when the engine paused for an update, or lost the adapter', async () => {
    expect(await open({ kind: 'aborted' }).infer(dialect, BODIES[dialect])).toEqual({ kind: 'interrupted' })
    const { engine, runtime, infer } = open()
    await runtime.weights?.serve('a', { runtime_load_id: 'ab:1', directory: await adapterFolder(root, 1) })
    engine.restart()
    expect(await infer(dialect, { ...BODIES[dialect], lora_path: ADAPTER })).toEqual({ kind: 'interrupted' })
    await runtime.weights?.lease('a', NEVER)
    expect(await infer(dialect, { ...BODIES[dialect], lora_path: ADAPTER })).toMatchObject({ kind: 'whole', status: 200 })
  })

  it.each([
    ['no object', []],
    ['no conversation', { model: 'm', max_tokens: 5 }],
    ['an unknown adapter', { ...BODIES[dialect], lora_path: 'mine' }],
  ])('is refused in the shape of its provider for %s', async (_what, body) => {
    const refused = await open(TEXT).infer(dialect, body)
    expect(refused).toMatchObject({ kind: 'whole', status: 400 })
    const shape = dialect === 'gemini' ? { status: 'INVALID_ARGUMENT' } : { type: 'invalid_request_error' }
    expect(await jsonOf(refused)).toMatchObject({ error: shape })
  })

  it('ends at once when its client leaves, whatever the engine does', async () => {
    const { engine, infer } = open()
    const client = new AbortController()
    const { answer, letGo } = await engine.midway(() => infer(dialect, BODIES[dialect], client.signal))
    client.abort()
    await expect(answer).rejects.toMatchObject({ kind: 'upstream', code: 'call_aborted' })
    letGo()
  })
})

const withoutIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/"(?:resp|msg|fc|ctc)_[0-9a-f]+"|"[0-9a-f]{32}"/g, '"id"'))

describe('the official clients', () => {
  it('read what is streamed and what is whole', async () => {
    for (const said of [TEXT, BOTH]) {
      const openai = new OpenAI({ apiKey: 'k', baseURL: 'http://localhost/v1', fetch: fetchOf(open(said).infer) })
      const chat = await openai.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }).finalChatCompletion()
      const response = await openai.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
      const anthropic = new Anthropic({ apiKey: 'k', baseURL: 'http://localhost', fetch: fetchOf(open(said).infer) })
      const message = await anthropic.messages.stream(asked).finalMessage()
      const whole = await anthropic.messages.create(asked)
      const text = said === TEXT ? 'hello' : 'I add'
      expect(chat.choices[0]?.message.content).toBe(text)
      expect(response.output_text).toBe(text)
      expect(message.content[0]).toMatchObject({ type: 'text', text })
      expect(message.content).toEqual(whole.content)
      expect(message.usage.output_tokens).toBe(2)
    }
  })

  const asked = {
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user' as const, content: 'hi' }],
    tools: [{ name: 'add', input_schema: SCHEMA }],
  }
})

describe('a messages request', () => {
  it('becomes a chat request with its tools, their calls and results', async () => {
    const { infer, asked } = open(TEXT)
    await infer('messages', {
      model: 'm',
      max_tokens: 9,
      system: [{ type: 'text', text: 'be brief' }],
      temperature: 0.5,
      stop_sequences: ['END'],
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: [
        { name: 'add', description: 'adds', input_schema: SCHEMA },
        { type: 'web_search_20250305', name: 'web_search' },
      ],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'one and one?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: '2' }] },
            { type: 'text', text: 'go on' },
          ],
        },
      ],
    })
    expect(asked[0]).toEqual({
      model: 'base',
      max_tokens: 9,
      temperature: 0.5,
      stop: ['END'],
      tools: [{ type: 'function', function: { name: 'add', description: 'adds', parameters: SCHEMA } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'one and one?' },
        { role: 'assistant', content: null, tool_calls: [{ id: 't1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }] },
        { role: 'tool', tool_call_id: 't1', content: '2' },
        { role: 'user', content: 'go on' },
      ],
    })
  })

  it('with an image is refused', async () => {
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'image', source: {} }] }] }
    expect(await jsonOf(await open(TEXT).infer('messages', body))).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining('messages.0.content.0') },
    })
  })

  it('that a stop sequence ended names it', async () => {
    const { infer } = open(answerOf('hel', SPANS, {}, { matched_stop: 'lo' }))
    const body = { ...BODIES.messages, stop_sequences: ['lo'] }
    expect(await jsonOf(await infer('messages', body))).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'lo' })
  })

  it('is counted by the template, and by the prompt of one token where there is none', async () => {
    const { engine, infer, asked } = open(TEXT)
    const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], lora_path: ADAPTER, return_meta_info: true }
    expect(await jsonOf(await infer('count_tokens', body))).toEqual({ input_tokens: 3 })
    expect(asked[0]).toMatchObject({ max_tokens: 1 })
    Object.assign(engine, { encode: () => Promise.resolve({ prompt: [1, 2], answer: [] }) })
    expect(await jsonOf(await infer('count_tokens', body))).toEqual({ input_tokens: 2 })
  })
})

describe('a responses request', () => {
  it('becomes a chat request; calls join the turn they belong to', async () => {
    const { infer, asked } = open(TEXT)
    await infer('responses', {
      model: 'm',
      instructions: 'be brief',
      max_output_tokens: 5,
      tools: [
        { type: 'function', name: 'add', description: 'adds', parameters: SCHEMA },
        { type: 'namespace', name: 'files', tools: [{ type: 'custom', name: 'patch' }] },
        { type: 'web_search' },
      ],
      tool_choice: { type: 'function', name: 'add' },
      text: { format: { type: 'json_schema', name: 'x', schema: SCHEMA } },
      input: [
        { role: 'developer', content: 'in French' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'one and one?' }] },
        { type: 'reasoning', summary: [] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I add' }] },
        { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'x' },
        { type: 'function_call_output', call_id: 'c1', output: '2' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'done' }] },
      ],
    })
    expect(asked[0]).toMatchObject({
      max_tokens: 5,
      tool_choice: { type: 'function', function: { name: 'add' } },
      response_format: { type: 'json_schema', json_schema: { schema: SCHEMA } },
      tools: [{ function: { name: 'add' } }, { function: { name: 'patch', parameters: { required: ['input'] } } }],
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'system', content: 'in French' },
        { role: 'user', content: 'one and one?' },
        {
          role: 'assistant',
          content: 'I add',
          tool_calls: [{ id: 'c1' }, { id: 'c2', function: { name: 'patch', arguments: '{"input":"x"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '2' },
        { role: 'tool', tool_call_id: 'c2', content: 'done' },
      ],
    })
  })

  it('offers its custom tools back as it got them', async () => {
    const body = { model: 'm', input: 'hi', tools: [{ type: 'namespace', name: 'files', tools: [{ type: 'custom', name: 'patch' }] }] }
    expect(await jsonOf(await open(CUSTOM).infer('responses', body))).toMatchObject({
      output: [{ type: 'custom_tool_call', call_id: 'call_1', name: 'patch', namespace: 'files', input: '*** Begin' }],
    })
  })

  it.each([
    ['an image', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] }],
    ['an item of another kind', { input: [{ type: 'item_reference', id: 'x' }] }],
    ['an answer that was never kept', { input: 'hi', previous_response_id: 'resp_1' }],
  ])('with %s is refused', async (_what, body) => {
    expect(await open(TEXT).infer('responses', { model: 'm', ...body })).toMatchObject({ kind: 'whole', status: 400 })
  })
})

describe('the runtime', () => {
  it('refuses more than one choice', async () => {
    expect(await open(TEXT).infer('chat', { ...BODIES.chat, n: 2 })).toMatchObject({ status: 400 })
  })

  it('reports the status of the engine and of its adapters [status.weights]', async () => {
    const { runtime } = open()
    await runtime.weights?.serve('a', { runtime_load_id: 'ab:1', directory: await adapterFolder(root, 1) })
    const status = await runtime.status()
    expect(status).toMatchObject({ runtime: 'llama', engine: 'scripted' })
    expect(status['adapters']).toEqual({
      capacity: 2,
      resident: 1,
      leaked: 0,
      protected: 1,
      in_flight: 0,
      counters: {
        loads: 1,
        load_failures: 0,
        load_cleanups: 0,
        cleanup_failures: 0,
        unloads: 0,
        unload_failures: 0,
        evictions: 0,
        capacity_rejections: 0,
        strays_unloaded: 0,
        lost_dropped: 0,
      },
      recent_actions: [{ action: 'load', adapter: ADAPTER, scenario: 'a' }],
      scenarios: { a: { current: { runtime_load_id: 'ab:1', adapter: ADAPTER }, resident: ['ab:1'] } },
    })
  })

  it('lists the base, and closes the engine with itself', async () => {
    const { engine, runtime } = open()
    const model = { url: 'http://localhost', model: null, apiKey: null, api: 'openai' } as const
    expect(await jsonOf(await runtime.models({ path: '/v1/models', headers: {}, model, signal: NEVER }))).toMatchObject({
      data: [{ id: 'base' }],
    })
    await runtime.close()
    expect(engine.calls).toEqual(['close'])
  })

  it('reports an engine that does not answer, and checks it before the next request', async () => {
    const { engine, runtime, infer } = open()
    await runtime.weights?.serve('a', { runtime_load_id: 'ab:1', directory: await adapterFolder(root, 1) })
    engine.answers = () => {
      throw upstream('upstream_unreachable', 'no answer')
    }
    await expect(infer('chat', BODIES.chat)).rejects.toMatchObject({ kind: 'upstream', code: 'upstream_unreachable' })
    engine.restart()
    await runtime.weights?.lease('a', NEVER)
    expect(engine.held.has(ADAPTER)).toBe(true)
  })

  it('reports a failure without a message as one of the upstream', async () => {
    const { engine, infer } = open()
    engine.faults.set('chat', 1)
    await expect(infer('chat', BODIES.chat)).rejects.toMatchObject({ kind: 'upstream', code: 'engine_failed' })
  })
})
