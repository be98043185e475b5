/** What becomes of single fields, reasons, counts and errors. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../contract/index.ts'
import { dialects, type DialectSpec } from '../index.ts'
import { objectOf, objectsOf } from '../values.ts'
import { translate, type Translated } from './index.ts'

const { chat, responses, messages, gemini } = dialects
const translated = (from: DialectSpec, to: DialectSpec, body: JsonObject): Translated =>
  translate(from, to, { path: from.paths[0] ?? '', body: { model: 'm', ...body }, id: 'made-up', nowSeconds: 7 })

const asked = { messages: [{ role: 'user', content: 'hi' }] }
const spoken = { max_tokens: 5, ...asked }
const tool = { name: 'look', input_schema: { type: 'object' } }
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const call = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} })
const result = (content: readonly JsonObject[]): JsonObject => ({
  ...spoken,
  messages: [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content }] },
  ],
})

describe('what cannot be translated is refused by its name', () => {
  const cases: readonly (readonly [from: DialectSpec, to: DialectSpec, body: JsonObject, words: string])[] = [
    [chat, messages, { ...asked, n: 2 }, 'n: cannot be translated from chat completions to messages: it can only be 1 here'],
    [chat, messages, { ...asked, logit_bias: { 5: 1 } }, 'logit_bias: '],
    [chat, messages, { ...asked, seed: 1 }, 'seed: '],
    [chat, responses, { ...asked, stop: ['x'] }, 'stop: '],
    [chat, responses, { ...asked, frequency_penalty: 0.5 }, 'frequency_penalty: '],
    [chat, messages, { ...asked, temperature: 1.5 }, 'temperature: '],
    [chat, messages, { ...asked, response_format: { type: 'json_object' } }, 'response_format: '],
    [chat, messages, { ...asked, reasoning_effort: 'minimal' }, 'reasoning_effort: '],
    [chat, messages, { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }, 'messages.0.content.0.type: '],
    [chat, messages, { messages: [{ role: 'user', content: 'hi', name: 'ann' }] }, 'messages.0.name: '],
    [chat, messages, { ...asked, max_tokens: '5' }, 'max_tokens: '],
    [chat, messages, { ...asked, tool_choice: 'maybe' }, 'tool_choice: '],
    [
      chat,
      gemini,
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }] }] },
      'messages.0.content.0: ',
    ],
    [chat, gemini, { messages: [{ role: 'tool', tool_call_id: 'x', content: '' }] }, 'the tool result of x: '],
    [messages, chat, { ...spoken, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools.0.type: '],
    [messages, chat, { ...spoken, tools: [tool, tool] }, 'tools: '],
    [messages, chat, { ...spoken, top_k: 3 }, 'top_k: '],
    [messages, chat, result([image]), 'messages.1.content.0.content.0: '],
    [
      messages,
      chat,
      { ...spoken, messages: [{ role: 'user', content: [{ type: 'document', source: {} }] }] },
      'messages.0.content.0.type: ',
    ],
    [
      messages,
      gemini,
      { ...spoken, tools: [tool], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      'tool_choice.disable_parallel_tool_use: ',
    ],
    [responses, chat, { input: 'hi', previous_response_id: 'r' }, 'previous_response_id: '],
    [responses, chat, { input: 'hi', include: ['file_search_call.results'] }, 'include.0: '],
    [responses, chat, { input: 'hi', tools: [{ type: 'web_search' }] }, 'tools.0.type: '],
    [responses, chat, { input: [{ type: 'item_reference', id: 'x' }] }, 'input.0.type: '],
    [responses, messages, { input: 'hi', model: '' }, 'model: '],
    [chat, gemini, { ...asked, model: 'm\ud800' }, 'model: '],
  ]
  it.each(cases)('%#: $0.name on $1.name', (from, to, body, words) => {
    expect(() => translated(from, to, body)).toThrow(
      expect.objectContaining({ code: 'cannot_translate', message: expect.stringMatching(new RegExp(`^${words.replaceAll('.', '\\.')}`)) }),
    )
  })
})

describe('a request that no provider would take is refused', () => {
  const deep: JsonObject = JSON.parse(`{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)
  it.each<[string, JsonObject]>([
    ['a type', { ...spoken, tools: [{ type: deep }] }],
    ['arguments', { ...spoken, messages: [{ role: 'assistant', content: [{ ...call('a'), input: deep }] }] }],
    ['a switch', { ...spoken, mcp_servers: deep }],
  ])('%s nested too deep', (_what, body) => {
    expect(() => translated(messages, chat, body)).toThrow(expect.objectContaining({ code: 'nested_too_deep' }))
  })

  it('a name of a field, without quoting all of it', () => {
    expect(() => translated(messages, chat, { ...spoken, ['x'.repeat(10_000)]: 1 })).toThrow(
      expect.objectContaining({ code: 'cannot_translate', message: expect.stringMatching(/^x{200}: cannot/) }),
    )
  })
})

describe('what the answer is right without is left out, and named', () => {
  it('in messages', () => {
    const { leftOut, body } = translated(messages, chat, {
      max_tokens: 5,
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'x' },
            { type: 'text', text: 'a' },
          ],
        },
        { role: 'user', content: 'hi' },
      ],
      thinking: { type: 'adaptive' },
      metadata: { user_id: 'u' },
    })
    expect(leftOut).toEqual(['system.0.cache_control', 'messages.0.content.0', 'thinking', 'metadata'])
    expect(body['messages']).toEqual([
      { role: 'system', content: 's' },
      { role: 'assistant', content: 'a' },
      { role: 'user', content: 'hi' },
    ])
  })

  it('a member that is null is as good as absent', () => {
    expect(translated(chat, messages, { ...asked, seed: null, made_up: null }).leftOut).toEqual([])
  })
})

const round = (name: string) => [
  { role: 'assistant', content: [{ type: 'tool_use', id: 'call_0', name, input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0', content: name }] },
]

describe('a request', () => {
  it('without a limit gets one where the format wants it', () => {
    expect(translated(chat, messages, asked).body['max_tokens']).toBe(8192)
  })

  it('that forbids several calls at once says so', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    expect(translated(chat, messages, { ...asked, tools, parallel_tool_calls: false }).body['tool_choice']).toEqual({
      type: 'auto',
      disable_parallel_tool_use: true,
    })
    expect(
      translated(messages, chat, { ...spoken, tools: [tool], tool_choice: { type: 'any', disable_parallel_tool_use: true } }).body,
    ).toMatchObject({
      tool_choice: 'required',
      parallel_tool_calls: false,
    })
  })

  it('with an error of a tool keeps that it is one where there is a place for it', () => {
    const failed = { ...spoken, messages: objectsOf(result([{ type: 'text', text: 'no' }])['messages']) }
    Object.assign(objectOf(objectsOf(objectOf(failed.messages[1])['content'])[0]), { is_error: true })
    expect(translated(messages, gemini, failed).body['contents']).toMatchObject([
      {},
      { parts: [{ functionResponse: { name: 'look', response: { error: 'no' } } }] },
    ])
    expect(translated(messages, chat, failed).leftOut).toEqual(['is_error of the result of a'])
  })

  it('of a model that signs its calls has a word in place of the signature, on the first call of a turn', () => {
    const body = { ...spoken, messages: [{ role: 'assistant', content: [call('a'), call('b')] }], model: 'gemini-3-pro' }
    expect(translated(messages, gemini, body).body['contents']).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'a', name: 'look', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
          { functionCall: { id: 'b', name: 'look', args: {} } },
        ],
      },
    ])
    expect(JSON.stringify(translated(messages, gemini, { ...body, model: 'gemini-2.5-pro' }).body)).not.toContain('Signature')
  })

  it('with an id that is used again names the function of each result', () => {
    const { body } = translated(messages, gemini, { ...spoken, messages: [...round('look'), ...round('go')] })
    expect(body['contents']).toMatchObject([
      {},
      { parts: [{ functionResponse: { name: 'look', response: { result: 'look' } } }] },
      {},
      { parts: [{ functionResponse: { name: 'go', response: { result: 'go' } } }] },
    ])
  })

  it('names the model and the stream in the path where the format does', () => {
    expect(translated(chat, gemini, { ...asked, model: 'a/b', stream: true }).path).toBe(
      '/v1beta/models/a%2Fb:streamGenerateContent?alt=sse',
    )
    expect(translated(chat, gemini, asked).path).toBe('/v1beta/models/m:generateContent')
  })

  it('has ids that the format takes, alike for a call and its result', () => {
    const history = [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'functions.look:0', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'functions.look:0', content: 'x' },
    ]
    const said = JSON.stringify(translated(chat, messages, { messages: history }).body)
    expect(said.match(/functions_look_0/g)).toHaveLength(2)
  })
})

const item = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })

describe('what agents send', () => {
  it('Claude Code is understood by a chat upstream', () => {
    const hint = { cache_control: { type: 'ephemeral' } }
    const { body, leftOut } = translated(messages, chat, {
      max_tokens: 32000,
      stream: true,
      system: [{ type: 'text', text: 'base', ...hint }],
      tools: [{ name: 'Bash', description: 'd', input_schema: { type: 'object' }, eager_input_streaming: true }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'one' },
            { type: 'text', text: 'two', ...hint },
          ],
        },
        { role: 'system', content: 'mid' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Bash', input: { command: 'ls' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x', is_error: false, ...hint }] },
      ],
      thinking: { type: 'adaptive', display: 'updates' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      output_config: { effort: 'high' },
      metadata: { user_id: '{}' },
    })
    expect(body).toMatchObject({
      max_tokens: 32000,
      reasoning_effort: 'high',
      messages: [
        { role: 'system', content: 'base' },
        { role: 'user', content: [{ text: 'one' }, { text: 'two' }] },
        { role: 'system', content: 'mid' },
        { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'Bash', arguments: '{"command":"ls"}' } }] },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ],
    })
    expect(leftOut).toHaveLength(7)
  })

  it('Codex is, without its tools of the provider, by a messages upstream', () => {
    const sent = {
      stream: true,
      input: [
        item('developer', 'base'),
        item('user', 'hi'),
        { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'x' },
        { type: 'function_call', call_id: 'a', name: 'spawn_agent', namespace: 'agents', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'done' },
      ],
      tools: [
        { type: 'function', name: 'exec_command', description: 'd', strict: false, parameters: { type: 'object' } },
        { type: 'namespace', name: 'agents', description: 'g', tools: [{ type: 'function', name: 'spawn_agent', parameters: {} }] },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: { summary: 'auto' },
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'k',
      client_metadata: {},
    }
    expect(translated(responses, messages, sent).body).toMatchObject({
      system: [{ text: 'base' }],
      tools: [{ name: 'exec_command' }, { name: 'spawn_agent' }],
      messages: [
        { role: 'user', content: [{ text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'tool_use', name: 'spawn_agent' }] },
        { role: 'user', content: [{ type: 'tool_result', content: [{ text: 'done' }] }] },
      ],
    })
    expect(() => translated(responses, messages, { ...sent, tools: [...sent.tools, { type: 'web_search' }] })).toThrow('tools.2.type: ')
  })
})
