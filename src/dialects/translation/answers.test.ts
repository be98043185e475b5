/** Answers of upstreams as their clients get them: odd calls, why an answer ended, what it took. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import { dialects, type DialectSpec } from '../index.ts'
import { objectsOf } from '../values.ts'
import { translate, type Translated } from './index.ts'

const { chat, responses, messages, gemini } = dialects
const translated = (from: DialectSpec, to: DialectSpec, body: JsonObject): Translated =>
  translate(from, to, { path: from.paths[0] ?? '', body: { model: 'm', ...body }, id: 'made-up', nowSeconds: 7 })

const asked = { messages: [{ role: 'user', content: 'hi' }] }
const spoken = { max_tokens: 5, ...asked }

const called = (name: string, given: string) => ({
  choices: [
    {
      index: 0,
      message: { tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: given } }] },
      finish_reason: 'tool_calls',
    },
  ],
})

describe('tools that take plain text, and tools in groups', () => {
  const about = translated(responses, chat, {
    input: [{ type: 'custom_tool_call', call_id: 'a', name: 'patch', input: 'old' }],
    tools: [
      { type: 'custom', name: 'patch', description: 'd', format: { type: 'grammar' } },
      { type: 'namespace', name: 'group', description: 'g', tools: [{ type: 'function', name: 'look', parameters: {} }] },
    ],
  })

  it('are functions upstream', () => {
    expect(about.body).toMatchObject({
      messages: [{ tool_calls: [{ function: { name: 'patch', arguments: '{"input":"old"}' } }] }],
      tools: [{ function: { name: 'patch', parameters: { required: ['input'] } } }, { function: { name: 'look' } }],
    })
    expect(about.leftOut).toEqual(['tools.0.format', 'tools.1.description'])
  })

  it('are called as the client knows them', () => {
    expect(about.whole(called('patch', '{"input":"new"}'))['output']).toMatchObject([
      { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: 'new' },
    ])
    expect(about.whole(called('patch', 'no json'))['output']).toMatchObject([{ type: 'custom_tool_call', input: 'no json' }])
    expect(about.whole(called('look', ''))['output']).toMatchObject([
      { type: 'function_call', name: 'look', namespace: 'group', arguments: '{}' },
    ])
  })
})

const piece = (more: JsonObject, name: string, given: string): JsonObject => ({ ...more, function: { name, arguments: given } })
const streamed = (...calls: readonly JsonObject[]): JsonObject => {
  const stream = translated(messages, chat, { ...spoken, stream: true }).openStream()
  const reader = messages.openStream?.()
  const choices = [...calls.map((one) => ({ delta: { tool_calls: [one] } })), { delta: {}, finish_reason: 'stop' }]
  const chunks = choices.map((choice) => writeEvent(null, JSON.stringify({ choices: [choice] })))
  for (const chunk of [...chunks, writeEvent(null, '[DONE]')]) for (const frame of stream.push(chunk)) reader?.take(frame)
  return reader?.answer() ?? {}
}

describe('calls of upstreams that do not keep to the format', () => {
  const both = {
    content: [
      { type: 'tool_use', name: 'look', input: { a: 1 } },
      { type: 'tool_use', name: 'go', input: { b: 2 } },
    ],
    stop_reason: 'tool_use',
  }

  it('are two where both have the same index', () => {
    expect(streamed(piece({ index: 0, id: 'x' }, 'look', '{"a":1}'), piece({ index: 0, id: 'y' }, 'go', '{"b":2}'))).toMatchObject(both)
  })

  it('are one where every piece has an id of its own', () => {
    const pieces = [piece({ index: 0, id: 'x' }, 'look', '{"a"'), { index: 0, id: 'y', function: { arguments: ':1}' } }]
    expect(streamed(...pieces)['content']).toMatchObject([{ id: 'x', input: { a: 1 } }])
  })

  it('are two without index and id, streamed and whole', () => {
    const calls = [piece({}, 'look', '{"a":1}'), piece({}, 'go', '{"b":2}')]
    expect(streamed(...calls)).toMatchObject(both)
    const whole = { choices: [{ index: 0, message: { content: null, tool_calls: calls }, finish_reason: 'stop' }] }
    expect(translated(messages, chat, spoken).whole(whole)).toMatchObject(both)
  })

  it('are closed where the answer was cut off in the middle of one', () => {
    const stream = translated(messages, responses, { ...spoken, stream: true }).openStream()
    const events = [
      { type: 'response.output_item.added', item: { type: 'function_call', call_id: 'c', name: 'look' } },
      { type: 'response.function_call_arguments.delta', delta: '{"a"' },
      { type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } },
    ]
    const text = Buffer.concat(events.flatMap((event) => stream.push(writeEvent(null, JSON.stringify(event))))).toString()
    expect(text.match(/^event: .*/gm)).toEqual(
      ['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta', 'message_stop'].map(
        (name) => `event: ${name}`,
      ),
    )
  })
})

const inputOf = (answer: JsonObject) => objectsOf(answer['content'])[0]?.['input']
const pieces = (...texts: string[]) =>
  streamed(piece({ index: 0, id: 'c' }, 'look', ''), ...texts.map((text) => piece({ index: 0 }, '', text)))

describe('an input that is no object', () => {
  it.each([
    ['an object in a string', '"{\\"a\\":12345678901234567890}"', '{"a":12345678901234567890}'],
    ['a list', '[1,2]', '{"INVALID_JSON":"[1,2]"}'],
    ['a text', 'ls -l', '{"INVALID_JSON":"ls -l"}'],
    ['null', 'null', '{"INVALID_JSON":"null"}'],
    ['a long number', '12345678901234567890', '{"INVALID_JSON":"12345678901234567890"}'],
    ['an object that was cut off', '{"a":', '{"INVALID_JSON":"{\\"a\\":"}'],
  ])('reaches clients of messages as one, whole and streamed: %s', (_what, given, input) => {
    const whole = translated(messages, chat, spoken).whole(called('look', given))
    expect([JSON.stringify(inputOf(whole)), whole['stop_reason']]).toEqual([input, 'tool_use'])
    expect(JSON.stringify(inputOf(streamed(piece({ id: 'c' }, 'look', given))))).toBe(input)
  })

  it('waits where it comes in pieces, while an object passes as it comes', () => {
    expect(inputOf(pieces(' ', '[', '1]'))).toEqual({ INVALID_JSON: ' [1]' })
    expect(inputOf(pieces(' ', '{"a"', ':1', '}'))).toEqual({ a: 1 })
    const stream = translated(messages, chat, { ...spoken, stream: true }).openStream()
    const passed = ['{"a"', ':1', '}'].map((text) => {
      const choices = [{ delta: { tool_calls: [piece({ index: 0, id: 'c' }, 'look', text)] } }]
      return Buffer.concat(stream.push(writeEvent(null, JSON.stringify({ choices }))))
    })
    expect(passed.map((bytes) => bytes.includes('input_json_delta'))).toEqual([false, true, true])
  })
})

const thought = { choices: [{ index: 0, message: { reasoning_content: 'hm', content: 'x' }, finish_reason: 'stop' }] }
const events = (body: JsonObject): readonly string[] => {
  const stream = translated(responses, chat, { input: 'x', stream: true, ...body }).openStream()
  const chunks = [{ reasoning_content: 'h' }, { reasoning_content: 'm' }, { content: 'x' }].map((delta) => ({ choices: [{ delta }] }))
  const bytes = Buffer.concat(chunks.flatMap((chunk) => stream.push(writeEvent(null, JSON.stringify(chunk)))))
  return [...bytes.toString().matchAll(/^event: response\.(reasoning_.*|content_part.*)$/gm)].map(([, name = '']) => name)
}

describe('thoughts for a client of responses', () => {
  it.each([{ summary: 'auto' }, { generate_summary: 'concise' }])('are the summary where it asks for one: %j', (reasoning) => {
    const answer = translated(responses, chat, { input: 'x', reasoning }).whole(thought)
    expect(answer['output']).toMatchObject([{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }, { type: 'message' }])
    expect(objectsOf(answer['output'])[0]).not.toHaveProperty('content')
    expect(events({ reasoning })).toEqual([
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'content_part.added',
    ])
  })

  it('are content where it does not', () => {
    const answer = translated(responses, chat, { input: 'x', reasoning: { effort: 'low', summary: null } }).whole(thought)
    expect(answer['output']).toMatchObject([{ summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] }, { type: 'message' }])
  })
})

const said = { role: 'assistant', content: 'x' }
const ofChat = (finish_reason: string) => ({ choices: [{ index: 0, message: said, finish_reason }] })
const ofMessages = (stop_reason: string, stop_sequence: string | null = null) => ({
  type: 'message',
  content: [{ type: 'text', text: 'x' }],
  stop_reason,
  stop_sequence,
})
const ofGemini = (finishReason: string) => ({ candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason }] })
const cut = (reason: string) => ({ status: 'incomplete', incomplete_details: { reason }, output: [] })

describe('why an answer ended', () => {
  const toMessages = (to: DialectSpec, answer: JsonObject) => translated(messages, to, spoken).whole(answer)['stop_reason']
  const toChat = (to: DialectSpec, answer: JsonObject) =>
    objectsOf(translated(chat, to, asked).whole(answer)['choices'])[0]?.['finish_reason']

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['content_filter', 'refusal'],
  ])('chat %s is messages %s', (word, other) => {
    expect(toMessages(chat, ofChat(word))).toBe(other)
    expect(toChat(messages, ofMessages(other))).toBe(word)
  })

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
  ])('generateContent %s is chat %s', (word, other) => {
    expect(toChat(gemini, ofGemini(word))).toBe(other)
  })

  it('a stop sequence is named to who can read it', () => {
    expect(toChat(messages, ofMessages('stop_sequence', '###'))).toBe('stop')
  })

  it('an incomplete response is cut off or withheld', () => {
    expect(toMessages(responses, cut('max_output_tokens'))).toBe('max_tokens')
    expect(toChat(responses, cut('content_filter'))).toBe('content_filter')
    expect(translated(responses, chat, { input: 'x' }).whole(ofChat('length'))).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
  })

  it('a refusal in words is a text and the reason to stop', () => {
    const refused = { choices: [{ index: 0, message: { role: 'assistant', content: null, refusal: 'no' }, finish_reason: 'stop' }] }
    expect(translated(messages, chat, spoken).whole(refused)).toMatchObject({
      content: [{ type: 'text', text: 'no' }],
      stop_reason: 'refusal',
    })
  })

  it.each([
    ['a reason that leaves no answer', gemini, ofGemini('MALFORMED_FUNCTION_CALL'), 'MALFORMED_FUNCTION_CALL'],
    [
      'a part of another kind',
      gemini,
      { candidates: [{ content: { parts: [{ executableCode: {} }] }, finishReason: 'STOP' }] },
      'executableCode',
    ],
    ['a block of another kind', messages, { content: [{ type: 'server_tool_use' }], stop_reason: 'end_turn' }, 'server_tool_use'],
    ['an item of another kind', responses, { status: 'completed', output: [{ type: 'web_search_call' }] }, 'web_search_call'],
    ['no choice', chat, { choices: [] }, 'without a choice'],
    ['no content', messages, { detail: 'not here' }, 'without content'],
    ['no output', responses, { detail: 'not here' }, 'without output'],
    ['a response that failed', responses, { status: 'failed', error: { message: 'broken', code: 'server_error' } }, 'broken'],
  ])('%s is an error that names it', (_what, to, answer, words) => {
    expect(() => translated(to === chat ? messages : chat, to, to === chat ? spoken : asked).whole(answer)).toThrow(words)
  })
})

describe('what an answer took', () => {
  it('is counted in the words of the client, the cache within or beside', () => {
    const counted = {
      content: [],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, cache_read_input_tokens: 10, cache_creation_input_tokens: 1, output_tokens: 4 },
    }
    expect(translated(chat, messages, asked).whole(counted)['usage']).toEqual({
      prompt_tokens: 14,
      completion_tokens: 4,
      total_tokens: 18,
      prompt_tokens_details: { cached_tokens: 10 },
    })
    const chatUsage = { prompt_tokens: 14, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 10 } }
    const answer = { choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }], usage: chatUsage }
    expect(translated(messages, chat, spoken).whole(answer)['usage']).toMatchObject({
      input_tokens: 4,
      cache_read_input_tokens: 10,
      output_tokens: 4,
    })
  })

  it.each([[-5], ['many'], [1.5], [null], [Number.MAX_VALUE]])('is not believed where it is no count: %s', (count) => {
    const answer = {
      choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: count, completion_tokens: count },
    }
    expect(translated(responses, chat, { input: 'x' }).whole(answer)['usage']).toBeNull()
  })
})
