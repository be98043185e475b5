/** Calls that would make the provider fetch, run, store or route something for an episode. Nothing of them is forwarded. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../src/contract/index.ts'
import { buildBody, buildHeaders, routeOf } from './index.ts'

const CHAT = '/v1/chat/completions'
const RESPONSES = '/v1/responses'
const MESSAGES = '/v1/messages'
const pin = (): string => 'pinned'

function forwarded(route: string, body: object | string): { readonly body: JsonObject | null; readonly notes: readonly string[] } {
  const notes: string[] = []
  const built = buildBody(route, typeof body === 'string' ? body : JSON.stringify(body), pin, (at) => void notes.push(at))
  return { body: built === null ? null : JSON.parse(built.text), notes }
}

const user = { role: 'user', content: 'hello' }
const own = { type: 'function', function: { name: 'read', description: 'd', parameters: { type: 'object' } } }
const said = (content: unknown): object => ({ messages: [{ role: 'user', content }] })
const asked = (...input: readonly unknown[]): object => ({ input })

describe('what an agent says and asks for is forwarded as it is', () => {
  it.each<readonly [string, string, object]>([
    [
      'chat',
      CHAT,
      {
        model: 'pinned',
        messages: [
          { role: 'system', content: 's' },
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
          { role: 'assistant', content: '', tool_calls: [{ id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } }] },
          { role: 'tool', tool_call_id: 'a', content: 'done' },
        ],
        tools: [own],
        tool_choice: { type: 'function', function: { name: 'read' } },
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: 10,
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
      },
    ],
    [
      'responses',
      RESPONSES,
      {
        model: 'pinned',
        instructions: 'i',
        input: [
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] },
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'abc' },
          { type: 'function_call', call_id: 'c', name: 'shell', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: 'done' },
          { type: 'custom_tool_call', call_id: 'd', name: 'patch', input: 'x' },
          { type: 'custom_tool_call_output', call_id: 'd', output: 'done' },
        ],
        tools: [
          { type: 'function', name: 'shell', description: 'd', strict: false, parameters: {} },
          { type: 'namespace', name: 'mcp', description: '', tools: [{ type: 'function', name: 'x', parameters: {} }] },
        ],
        reasoning: { effort: 'low', summary: 'auto' },
        include: ['reasoning.encrypted_content'],
        text: { verbosity: 'low' },
        store: false,
        stream: true,
      },
    ],
    [
      'messages',
      MESSAGES,
      {
        model: 'pinned',
        max_tokens: 10,
        system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
        messages: [
          { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }] },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 't', signature: 's' },
              { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'x' } },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'r' }], is_error: false }] },
        ],
        tools: [{ name: 'Read', description: 'd', input_schema: { type: 'object' } }],
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
        thinking: { type: 'enabled', budget_tokens: 5 },
        stream: true,
      },
    ],
  ])('%s', (_format, route, body) => {
    expect(forwarded(route, body)).toEqual({ body, notes: [] })
  })
})

const hosted = (...types: readonly string[]): readonly object[] => types.map((type) => ({ type, name: type }))
const REMOTE = { type: 'mcp', server_label: 'x', server_url: 'https://evil.example' }

/** Each has something that must not arrive, and the words by which it is noted. */
const LEFT_OUT: readonly (readonly [title: string, route: string, body: object, note: string])[] = [
  ['web search of chat', CHAT, { web_search_options: {} }, 'web_search_options'],
  ['hosted tools of chat', CHAT, { tools: hosted('web_search', 'code_interpreter') }, 'tools[] (web_search)'],
  ['a plug-in of a router', CHAT, { plugins: [{ id: 'web' }] }, 'plugins'],
  ['the choice of a provider', CHAT, { provider: { order: ['x'] } }, 'provider'],
  ['fallback models', CHAT, { models: ['big'] }, 'models'],
  ['a route', CHAT, { route: 'fallback' }, 'route'],
  ['a prediction', CHAT, { prediction: { type: 'content', content: 'x' } }, 'prediction'],
  ['a stored completion', CHAT, { store: true, metadata: { a: 'b' } }, 'store'],
  ['spoken answers', CHAT, { modalities: ['audio'], audio: { voice: 'x' } }, 'modalities'],
  ['many answers for one call', CHAT, { n: 100 }, 'n'],
  ['a template of the engine', CHAT, { chat_template: '{{x}}', chat_template_kwargs: { a: 1 } }, 'chat_template'],
  ['an adapter of the engine', CHAT, { lora_path: '/etc', extra_body: { lora_path: 'x' } }, 'lora_path'],
  [
    'the address of an image in chat',
    CHAT,
    said([{ type: 'image_url', image_url: { url: 'https://evil.example/x.png' } }]),
    'messages[].content[]',
  ],
  ['a local address of an image', CHAT, said([{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }]), 'messages[].content[]'],
  [
    'an address after a prefix of data',
    CHAT,
    said([{ type: 'image_url', image_url: { url: 'data:,https://evil.example' } }]),
    'messages[].content[]',
  ],
  ['a stored file in chat', CHAT, said([{ type: 'file', file: { file_id: 'file-1' } }]), 'messages[].content[]'],
  [
    'a video by its address',
    CHAT,
    said([{ type: 'video_url', video_url: { url: 'https://evil.example' } }]),
    'messages[].content[] (video_url)',
  ],
  [
    'sound by its address',
    CHAT,
    said([{ type: 'input_audio', input_audio: { data: 'https://evil.example', format: 'mp3' } }]),
    'messages[].content[]',
  ],
  ['a stored answer as sound', CHAT, { messages: [{ ...user, audio: { id: 'audio_1' } }] }, 'messages[].audio'],
  ['a member in other letters', CHAT, { Store: true, TOOLS: hosted('web_search') }, 'Store'],
  [
    'hosted tools of responses',
    RESPONSES,
    { tools: hosted('web_search_preview', 'file_search', 'image_generation', 'computer_use_preview') },
    'tools[] (file_search)',
  ],
  ['a remote MCP server', RESPONSES, { tools: [REMOTE] }, 'tools[] (mcp)'],
  [
    'a remote MCP server in a namespace',
    RESPONSES,
    { tools: [{ type: 'namespace', name: 'x', tools: [REMOTE] }] },
    'tools[].tools[] (mcp)',
  ],
  [
    'a code interpreter with its container',
    RESPONSES,
    { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
    'tools[] (code_interpreter)',
  ],
  ['an earlier answer by its id', RESPONSES, { previous_response_id: 'resp_1' }, 'previous_response_id'],
  ['a conversation by its id', RESPONSES, { conversation: 'conv_1' }, 'conversation'],
  ['a stored prompt', RESPONSES, { prompt: { id: 'pmpt_1' } }, 'prompt'],
  ['work in the background', RESPONSES, { background: true }, 'background'],
  ['a stored item by its id', RESPONSES, asked({ type: 'item_reference', id: 'msg_1' }), 'input[] (item_reference)'],
  ['reasoning by its id alone', RESPONSES, asked({ type: 'reasoning', id: 'rs_1', summary: [] }), 'input[]'],
  ['the id of a stored message', RESPONSES, asked({ type: 'message', id: 'msg_1', role: 'user', content: 'x' }), 'input[].id'],
  [
    'a call of a hosted tool',
    RESPONSES,
    asked({ type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'x' } }),
    'input[] (web_search_call)',
  ],
  [
    'an approval of a remote call',
    RESPONSES,
    asked({ type: 'mcp_approval_response', approve: true, approval_request_id: 'x' }),
    'input[] (mcp_approval_response)',
  ],
  [
    'the address of an image in responses',
    RESPONSES,
    asked({ role: 'user', content: [{ type: 'input_image', image_url: 'https://evil.example' }] }),
    'input[].content[]',
  ],
  ['a stored image', RESPONSES, asked({ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }), 'input[].content[]'],
  [
    'the address of a file',
    RESPONSES,
    asked({ role: 'user', content: [{ type: 'input_file', file_url: 'https://evil.example' }] }),
    'input[].content[]',
  ],
  [
    'an address in the result of a tool',
    RESPONSES,
    asked({ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: 'http://evil.example' }] }),
    'input[].output[]',
  ],
  ['results of hosted tools in the answer', RESPONSES, { include: ['web_search_call.results', 'file_search_call.results'] }, 'include[]'],
  ['a choice of a hosted tool', RESPONSES, { tool_choice: { type: 'web_search_preview' } }, 'tool_choice (web_search_preview)'],
  ['another tier of service', RESPONSES, { service_tier: 'priority' }, 'service_tier'],
  [
    'hosted tools of messages',
    MESSAGES,
    { tools: hosted('web_search_20250305', 'web_fetch_20250910', 'code_execution_20250522', 'computer_20250124') },
    'tools[] (web_fetch_20250910)',
  ],
  ['remote MCP servers of messages', MESSAGES, { mcp_servers: [{ type: 'url', url: 'https://evil.example', name: 'x' }] }, 'mcp_servers'],
  ['a container with skills', MESSAGES, { container: { skills: [] } }, 'container'],
  [
    'the address of an image in messages',
    MESSAGES,
    said([{ type: 'image', source: { type: 'url', url: 'https://evil.example' } }]),
    'messages[].content[].source (url)',
  ],
  [
    'a stored document',
    MESSAGES,
    said([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }]),
    'messages[].content[].source (file)',
  ],
  [
    'an address in the place of data',
    MESSAGES,
    said([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'https://evil.example' } }]),
    'messages[].content[].source',
  ],
  [
    'an address in a result of a tool',
    MESSAGES,
    said([
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'document', source: { type: 'url', url: 'https://evil.example' } }] },
    ]),
    'messages[].content[].content[].source (url)',
  ],
  [
    'a document that holds addresses',
    MESSAGES,
    said([
      { type: 'document', source: { type: 'content', content: [{ type: 'image', source: { type: 'url', url: 'https://evil.example' } }] } },
    ]),
    'messages[].content[].source (content)',
  ],
  [
    'a call that the provider would make',
    MESSAGES,
    said([{ type: 'server_tool_use', id: 'a', name: 'web_fetch', input: { url: 'https://evil.example' } }]),
    'messages[].content[] (server_tool_use)',
  ],
  [
    'who may call a tool',
    MESSAGES,
    { tools: [{ name: 'x', input_schema: {}, allowed_callers: ['code_execution_20250825'] }] },
    'tools[].allowed_callers',
  ],
  ['a number that no double holds', MESSAGES, { max_tokens: -1 }, 'max_tokens'],
  ['members of a prototype', CHAT, { constructor: { x: 1 }, toString: 'x' }, 'constructor'],
]

/** Words that must be nowhere in a forwarded body. */
const FORBIDDEN = /evil\.example|file-1|file_1|msg_1|resp_1|conv_1|ws_1|rs_1|etc|web_search|mcp|"store":true|priority|100|code_exec/

describe('is left out, and said', () => {
  it.each(LEFT_OUT)('%s', (_title, route, body, note) => {
    const { body: built, notes } = forwarded(route, body)
    expect(notes).toContain(note)
    expect(JSON.stringify(built)).not.toMatch(FORBIDDEN)
  })

  it('another model: it is the one of the episode, however it is named', () => {
    for (const route of [CHAT, RESPONSES, MESSAGES, '/v1/messages/count_tokens'])
      expect(forwarded(route, { model: 'other' })).toMatchObject({ body: { model: 'pinned' }, notes: ['model'] })
    expect(forwarded(CHAT, '{"model":"pinned","model":"other","Model":"third"}').body).toEqual({ model: 'pinned' })
    expect(forwarded(CHAT, { model: { id: 'other' } }).body).toEqual({ model: 'pinned' })
  })

  it('the first of two members of one name, so that no reader sees the other one', () => {
    const { body } = forwarded(RESPONSES, '{"store":true,"input":"a","input":"b","tools":[{"type":"mcp"}],"tools":[]}')
    expect(body).toEqual({ model: 'pinned', input: 'b', tools: [], store: false })
  })

  it('numbers too large, and what is nested too deeply', () => {
    expect(forwarded(CHAT, '{"temperature":1e999,"max_tokens":1e300,"seed":-0.5}').body).toEqual({ model: 'pinned' })
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const tools = `[{"type":"function","function":{"name":"x","parameters":${deep}}}]`
    expect(forwarded(CHAT, `{"tools":${tools},"messages":${deep}}`)).toMatchObject({
      body: { tools: [{ type: 'function', function: { name: 'x' } }] },
      notes: ['tools[].function.parameters', 'messages[]'],
    })
  })

  it('keeping: a conversation of responses is never stored', () => {
    for (const store of [true, null, 'false', undefined]) expect(forwarded(RESPONSES, { store }).body).toMatchObject({ store: false })
  })
})

it.each(['', 'null', '[]', '"x"', '{', '{"a":1}{"b":2}', '\u0000'])('a body that is no object is none: %j', (body) => {
  expect(forwarded(CHAT, body).body).toBeNull()
})

it('knows four routes, and one query', () => {
  expect([CHAT, `${MESSAGES}?beta=true`, RESPONSES, `${MESSAGES}/count_tokens?beta=true`].map(routeOf)).not.toContain(null)
  const others = [
    '',
    '/',
    `${CHAT}?x=1`,
    `${MESSAGES}?beta=true&x`,
    `${RESPONSES}/resp_1`,
    '/v1/files',
    '/v1/batches',
    'constructor',
    '__proto__',
  ]
  expect(others.map(routeOf)).toEqual(others.map(() => null))
})

it('forwards headers that it knows, with values that it knows', () => {
  const notes: string[] = []
  const given = {
    'content-type': 'text/plain',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'interleaved-thinking-2025-05-14, files-api-2025-04-14,code-execution-2025-05-22',
    'openai-organization': 'x',
    'x-svc-release-id': 'x',
  }
  expect(buildHeaders(given, (at) => void notes.push(at))).toEqual({
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'interleaved-thinking-2025-05-14',
  })
  expect(notes).toEqual(['anthropic-beta (files-api-2025-04-14)', 'anthropic-beta (code-execution-2025-05-22)'])
  expect(buildHeaders({ 'anthropic-version': 'x\r\ny: z' }, () => undefined)).toEqual({ 'content-type': 'application/json' })
})
