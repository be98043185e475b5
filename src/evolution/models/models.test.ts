import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sendJson, startUpstream, type Received, type Upstream } from '../../../test/support/upstream.ts'
import { listenOnLoopback } from '../../../test/support/listen.ts'
import type { ChatMessage, ChatTool, JsonObject, ModelAddress, ModelApi, Reporter } from '../../contract/index.ts'
import { openModels, type ModelsOptions, type OpenedModels } from './index.ts'

const KEY = 'the-key-of-these-models-is-secret'
const question: readonly ChatMessage[] = [{ role: 'user', content: 'Say hello.' }]
const tool = {
  name: 'add',
  description: 'Adds.',
  parameters: { type: 'object', properties: { a: { type: 'number' } } },
} satisfies ChatTool

let upstream: Upstream
let lines: string[]
beforeEach(async () => {
  upstream = await startUpstream()
  lines = []
})
afterEach(() => upstream.close())

const report: Reporter = {
  phase: () => undefined,
  line: (kind, text, failed) => void lines.push(`${kind}: ${text}${failed === true ? ' (failed)' : ''}`),
}

function open(given: Partial<ModelsOptions> = {}, address: Partial<ModelAddress> = {}): OpenedModels {
  const where = { url: `${upstream.url}/svc/scenarios/s/evaluation`, model: 'm', api: 'openai', apiKey: KEY, ...address } as const
  return openModels(where, { callsMax: 0, report, signal: new AbortController().signal, ...given })
}
function served(opened: OpenedModels): NonNullable<OpenedModels['models'][string]> {
  const model = opened.models['served']
  if (model === undefined) throw new Error('there is a served model')
  return model
}

const failureOf = (opened: OpenedModels): Promise<string> => served(opened).chat(question).catch(String)

const chatAnswer = (content: string | null, more: JsonObject = {}): JsonObject => ({
  choices: [{ message: { role: 'assistant', content, ...more } }],
  usage: { prompt_tokens: 7, completion_tokens: 3 },
})
const bodyOf = (received: Received | undefined): JsonObject => JSON.parse(received?.body.toString() ?? '{}')
/** The answers in turn; the last one again and again. */
function answers(...all: readonly (readonly [status: number, body: JsonObject, headers?: Record<string, string>])[]): void {
  upstream.answer((_received, response) => {
    const [status, body, headers = {}] = all[Math.min(upstream.received.length, all.length) - 1] ?? [500, {}]
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    sendJson(response, status, body)
  })
}

const ANSWERS: Readonly<Record<ModelApi, JsonObject>> = {
  openai: chatAnswer('Adding.', { tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }] }),
  responses: {
    output: [
      { type: 'reasoning', summary: [] },
      { type: 'message', content: [{ type: 'output_text', text: 'Adding.' }] },
      { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' },
    ],
    usage: { input_tokens: 7, output_tokens: 3 },
  },
  anthropic: {
    content: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'Adding.' },
      { type: 'tool_use', id: 'c1', name: 'add', input: { a: 1 } },
    ],
    usage: { input_tokens: 7, output_tokens: 3 },
  },
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Adding.' }, { functionCall: { id: 'c1', name: 'add', args: { a: 1 } } }] } }],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3 },
  },
}
const history: readonly ChatMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Add 1.' },
  {
    role: 'assistant',
    content: '',
    calls: [
      { id: 'c0', name: 'add', arguments: '{"a":0}' },
      { id: 'c9', name: 'add', arguments: 'no JSON' },
    ],
  },
  { role: 'tool', call_id: 'c0', content: '0' },
  { role: 'tool', call_id: 'c9', content: 'what?' },
]

describe('a turn with tools', () => {
  it.each<readonly [ModelApi, string, JsonObject]>([
    [
      'openai',
      '/v1/chat/completions',
      {
        model: 'm',
        max_tokens: 50,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Add 1.' },
          {
            role: 'assistant',
            content: '',
            tool_calls: [
              { id: 'c0', type: 'function', function: { name: 'add', arguments: '{"a":0}' } },
              { id: 'c9', type: 'function', function: { name: 'add', arguments: 'no JSON' } },
            ],
          },
          { role: 'tool', tool_call_id: 'c0', content: '0' },
          { role: 'tool', tool_call_id: 'c9', content: 'what?' },
        ],
        tools: [{ type: 'function', function: tool }],
      },
    ],
    [
      'responses',
      '/v1/responses',
      {
        model: 'm',
        max_output_tokens: 50,
        store: false,
        input: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Add 1.' },
          { type: 'function_call', call_id: 'c0', name: 'add', arguments: '{"a":0}' },
          { type: 'function_call', call_id: 'c9', name: 'add', arguments: 'no JSON' },
          { type: 'function_call_output', call_id: 'c0', output: '0' },
          { type: 'function_call_output', call_id: 'c9', output: 'what?' },
        ],
        tools: [{ type: 'function', ...tool }],
      },
    ],
    [
      'anthropic',
      '/v1/messages',
      {
        model: 'm',
        max_tokens: 50,
        system: 'Be brief.',
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Add 1.' }] },
          {
            role: 'assistant',
            content: [
              { type: 'tool_use', id: 'c0', name: 'add', input: { a: 0 } },
              { type: 'tool_use', id: 'c9', name: 'add', input: {} },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'c0', content: '0' },
              { type: 'tool_result', tool_use_id: 'c9', content: 'what?' },
            ],
          },
        ],
        tools: [{ name: 'add', description: 'Adds.', input_schema: tool.parameters }],
      },
    ],
    [
      'gemini',
      '/v1beta/models/m:generateContent',
      {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [
          { role: 'user', parts: [{ text: 'Add 1.' }] },
          {
            role: 'model',
            parts: [{ functionCall: { id: 'c0', name: 'add', args: { a: 0 } } }, { functionCall: { id: 'c9', name: 'add', args: {} } }],
          },
          {
            role: 'user',
            parts: [
              { functionResponse: { id: 'c0', name: 'add', response: { result: '0' } } },
              { functionResponse: { id: 'c9', name: 'add', response: { result: 'what?' } } },
            ],
          },
        ],
        tools: [{ functionDeclarations: [{ name: 'add', description: 'Adds.', parametersJsonSchema: tool.parameters }] }],
        generationConfig: { maxOutputTokens: 50 },
      },
    ],
  ])('is asked in the format of %s', async (api, path, body) => {
    answers([200, ANSWERS[api]])
    const turn = await served(open({}, { api })).turn(history, [tool], { tokensMax: 50 })
    expect(turn).toEqual({ text: 'Adding.', calls: [{ id: 'c1', name: 'add', arguments: '{"a":1}' }] })
    const [received] = upstream.received
    expect(received?.url).toBe(`/svc/scenarios/s/evaluation${path}`)
    expect(received?.headers.authorization).toBe(`Bearer ${KEY}`)
    expect(bodyOf(received)).toEqual(body)
  })
})

describe('what a step keeps of its calls', () => {
  it('is no more than one file of its record holds: further texts are left out, and every call is listed', async () => {
    answers([200, chatAnswer('x'.repeat(1_000_000))])
    const opened = open()
    for (let asked = 0; asked < 3; asked += 1) await served(opened).chat(question)
    expect(JSON.stringify(opened.calls).length).toBeLessThan(4_000_000)
    expect(opened.calls.map((call) => 'reply' in call)).toEqual([true, false, false])
    expect(opened.calls[2]).toMatchObject({ model: 'm', usage: { output_tokens: 3 }, left_out_bytes: expect.any(Number) })
  })

  it('is the question, the answer and its cost, and every call is reported in lines', async () => {
    answers([200, chatAnswer('hello')], [400, { error: { message: 'no such model' } }])
    const opened = open()
    await served(opened).chat(question)
    await expect(served(opened).chat(question)).rejects.toThrow('status 400: no such model')
    const [first, second] = opened.calls
    const usage = { input_tokens: 7, output_tokens: 3 }
    expect(first).toMatchObject({ model: 'm', messages: question, params: { max_tokens: 8192 }, seconds: expect.any(Number), usage })
    expect(first).toMatchObject({ reply: 'hello', response: chatAnswer('hello') })
    expect(second).toMatchObject({ messages: question, error: expect.stringContaining('no such model'), seconds: expect.any(Number) })
    expect(opened.usage()).toEqual({
      proposer_calls: 2,
      proposer_seconds: expect.any(Number),
      proposer_input_tokens: 7,
      proposer_output_tokens: 3,
    })
    expect(lines).toEqual([
      'model: asking m',
      expect.stringMatching(/^model: m answered in [\d.]+ s, 7 -> 3 tokens$/),
      'model: asking m',
      expect.stringMatching(/^model: m failed after [\d.]+ s: .*no such model \(failed\)$/),
    ])
  })

  it('never holds the key, also when the other side says it back', async () => {
    answers([200, chatAnswer(`your key is ${KEY}`)], [401, { error: { message: `bad key ${KEY}` } }])
    const opened = open()
    const said = await served(opened).chat([{ role: 'user', content: `is it ${KEY}?` }])
    const failure = await failureOf(opened)
    expect(said).toBe('your key is [redacted]')
    expect(failure).toContain('bad key [redacted]')
    expect(JSON.stringify([opened.calls, lines, failure])).not.toContain(KEY)
  })
})

describe('a call that fails', () => {
  it.each([408, 429, 500, 503])('with status %i is tried again as soon as the other side says', async (status) => {
    answers([status, {}, { 'retry-after': '0' }], [status, {}, { 'retry-after': '0' }], [200, chatAnswer('hello')])
    const opened = open()
    expect(await served(opened).chat(question)).toBe('hello')
    expect(upstream.received).toHaveLength(3)
    expect(opened.usage().proposer_calls).toBe(1)
  })

  it('three times is over', async () => {
    answers([503, { error: 'busy' }, { 'retry-after': '0' }])
    await expect(served(open()).chat(question)).rejects.toThrow('status 503: busy')
    expect(upstream.received).toHaveLength(3)
  })

  it('on its connection is tried again', async () => {
    upstream.answer((_received, response) => {
      if (upstream.received.length === 1) response.destroy()
      else sendJson(response, 200, chatAnswer('hello'))
    })
    expect(await served(open()).chat(question)).toBe('hello')
  })

  it('because no server listens is reported without its address', async () => {
    await upstream.close()
    const failure = await failureOf(open())
    expect(failure).toContain('could not be reached: ECONNREFUSED')
    expect(failure).not.toContain('127.0.0.1')
  })

  it('because of its number of tokens is asked once without it', async () => {
    answers([400, { error: { message: "Unsupported parameter: 'max_tokens'" } }], [200, chatAnswer('hello')])
    expect(await served(open()).chat(question, { tokensMax: 65_536 })).toBe('hello')
    expect(upstream.received.map((received) => bodyOf(received)['max_tokens'])).toEqual([65_536, undefined])
  })

  it.each([
    ['no JSON', '<html>'],
    ['another format', '{"content": []}'],
    ['a list', '[]'],
  ])('with %s for an answer is over at once', async (_what, text) => {
    upstream.answer((_received, response) => void response.end(text))
    await expect(served(open()).chat(question)).rejects.toThrow('the model answered with something that is no')
    expect(upstream.received).toHaveLength(1)
  })

  it('with an answer that never ends is over when that is too much, and lets the connection go', async () => {
    const part = Buffer.alloc(1024 * 1024, 'x')
    upstream.answer((_received, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(part));
      }
      response.on('drain', more)
      more()
    })
    await expect(served(open()).chat(question)).rejects.toThrow('larger than')
    expect(upstream.received).toHaveLength(1)
  })

  it('is over when its time is, though the other side says nothing', async () => {
    upstream.answer(() => undefined)
    await expect(served(open()).chat(question, { timeoutSeconds: 0.05 })).rejects.toThrow('no answer after 0.05 s')
  })

  it('rests no longer than its time is', async () => {
    answers([503, {}, { 'retry-after': '10' }])
    await expect(served(open()).chat(question, { timeoutSeconds: 0.2 })).rejects.toThrow('no answer after 0.2 s')
  })

  it('ends at once when the step is aborted', async () => {
    const stopping = new AbortController()
    upstream.answer(() => stopping.abort(new Error('stopped')))
    const opened = open({ signal: stopping.signal })
    await expect(served(opened).chat(question)).rejects.toThrow('stopped')
    await expect(served(opened).chat(question)).rejects.toThrow('stopped')
    expect(upstream.received).toHaveLength(1)
  })
})

describe('an answer without a word', () => {
  it('is asked for once more with twice the tokens', async () => {
    answers([200, chatAnswer(null)], [200, chatAnswer('hello')])
    const opened = open()
    expect(await served(opened).chat(question, { tokensMax: 100 })).toBe('hello')
    expect(upstream.received.map((received) => bodyOf(received)['max_tokens'])).toEqual([100, 200])
    expect(opened.usage().proposer_calls).toBe(2)
  })

  it('is a failure the second time', async () => {
    answers([200, chatAnswer(' ')])
    await expect(served(open()).chat(question)).rejects.toThrow('answered twice without a word')
  })
})

describe('the budget of a step', () => {
  it('is held also by many calls at once, and says that it is spent', async () => {
    answers([200, chatAnswer('hello')])
    const opened = open({ callsMax: 3 })
    const all = await Promise.allSettled(Array.from({ length: 10 }, () => served(opened).chat(question)))
    const refused = all.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(7)
    expect(upstream.received).toHaveLength(3)
    const message = 'the step has spent its 3 model calls; raise evolution.max_model_calls_per_step'
    expect(refused[0]).toMatchObject({ reason: { message } })
  })
})

describe('an address without a model or a key', () => {
  it('is asked all the same', async () => {
    answers([200, chatAnswer('hello')])
    const opened = open({}, { model: null, apiKey: null })
    expect(await served(opened).chat(question)).toBe('hello')
    expect(upstream.received[0]?.headers.authorization).toBeUndefined()
    expect(bodyOf(upstream.received[0])['model']).toBe('default')
  })

  it('where something else listens is a failure like any other', async () => {
    const server = createServer((socket) => socket.end('SSH-2.0-x\r\n'))
    const port = await listenOnLoopback(server)
    await expect(served(open({}, { url: `http://127.0.0.1:${port}` })).chat(question)).rejects.toThrow('could not be reached')
    server.close()
  })
})
