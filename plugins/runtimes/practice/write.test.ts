import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/index.ts'
import { ask, at, dataOf, eventsOf, STILL_SECONDS, textAt, type SseEvent } from './testing.ts'

const QUESTION = 'Sort these numbers in ascending order: 9, 10, 2'
const CALC = { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] }
const SUM = 'What is 2 + 3 * 4?'

/** One request per dialect for each kind of answer. */
const BODIES: Readonly<Record<'chat' | 'responses' | 'messages', Readonly<Record<'text' | 'call' | 'cut', JsonObject>>>> = {
  chat: {
    text: { model: 'm', messages: [{ role: 'user', content: QUESTION }] },
    call: {
      model: 'm',
      messages: [{ role: 'user', content: SUM }],
      tools: [{ type: 'function', function: { name: 'calculator', parameters: CALC } }],
    },
    cut: { model: 'm', messages: [{ role: 'user', content: QUESTION }], max_completion_tokens: 3 },
  },
  responses: {
    text: { model: 'm', input: QUESTION },
    call: { model: 'm', input: SUM, tools: [{ type: 'function', name: 'calculator', parameters: CALC }] },
    cut: { model: 'm', input: QUESTION, max_output_tokens: 3 },
  },
  messages: {
    text: { model: 'm', max_tokens: 500, messages: [{ role: 'user', content: QUESTION }] },
    call: { model: 'm', max_tokens: 500, messages: [{ role: 'user', content: SUM }], tools: [{ name: 'calculator', input_schema: CALC }] },
    cut: { model: 'm', max_tokens: 3, messages: [{ role: 'user', content: QUESTION }] },
  },
}
const KINDS = ['text', 'call', 'cut'] as const

describe('chat', () => {
  it.each(KINDS)('a streamed %s is the whole one in pieces', async (kind) => {
    const { body } = await ask('chat', BODIES.chat[kind])
    const streamed = await eventsOf('chat', { ...BODIES.chat[kind], stream_options: { include_usage: true } })
    expect(streamed.at(-1)).toEqual({ event: undefined, data: '[DONE]' })
    const chunks = dataOf(streamed)
    const text = chunks.map((chunk) => textAt(chunk, 'choices', 0, 'delta', 'content')).join('')
    const input = chunks.map((chunk) => textAt(chunk, 'choices', 0, 'delta', 'tool_calls', 0, 'function', 'arguments')).join('')
    expect(text).toBe(at(body, 'choices', 0, 'message', 'content') ?? '')
    expect(input).toBe(at(body, 'choices', 0, 'message', 'tool_calls', 0, 'function', 'arguments') ?? '')
    expect(textAt(chunks.at(-2), 'choices', 0, 'finish_reason')).toBe(at(body, 'choices', 0, 'finish_reason'))
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: body['usage'] })
    expect(chunks.every((chunk) => chunk['object'] === 'chat.completion.chunk' && chunk['created'] === STILL_SECONDS)).toBe(true)
  })

  it('without include_usage no chunk speaks of usage', async () => {
    const chunks = dataOf(await eventsOf('chat', BODIES.chat.text))
    expect(chunks.length).toBeGreaterThan(4)
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false)
  })

  it('names why it ended', async () => {
    const reasons = await Promise.all(
      KINDS.map(async (kind) => at((await ask('chat', BODIES.chat[kind])).body, 'choices', 0, 'finish_reason')),
    )
    expect(reasons).toEqual(['stop', 'tool_calls', 'length'])
  })

  it('calls a custom tool with free text', async () => {
    const tools = [{ type: 'custom', custom: { name: 'calculator', description: 'Does sums.' } }]
    const { body } = await ask('chat', { ...BODIES.chat.call, tools })
    expect(at(body, 'choices', 0, 'message', 'tool_calls', 0)).toMatchObject({
      type: 'custom',
      custom: { name: 'calculator', input: '2 + 3 * 4' },
    })
  })
})

describe('responses', () => {
  it.each(KINDS)('a streamed %s ends with the whole object and numbers its events', async (kind) => {
    const body = { ...BODIES.responses[kind], metadata: { a: 'b' } }
    const events = await eventsOf('responses', body)
    const data = dataOf(events)
    expect(data.map((event) => event['sequence_number'])).toEqual(data.map((_, index) => index))
    expect(events.map(({ event }) => event)).toEqual(data.map((event) => event['type']))
    const last = data.at(-1)
    expect(last?.['type']).toBe(kind === 'cut' ? 'response.incomplete' : 'response.completed')
    const { body: whole } = await ask('responses', body)
    // The two requests differ in one field, so their ids do; the rest is the same object.
    expect(withoutIds(last?.['response'])).toEqual(withoutIds(whole))
    const deltas = data.filter((event) => textAt(event, 'type').endsWith('.delta')).map((event) => textAt(event, 'delta'))
    expect(deltas.join('')).toBe(at(whole, 'output', 0, 'content', 0, 'text') ?? at(whole, 'output', 0, 'arguments'))
  })

  it('opens and closes every part it sends', async () => {
    const types = (await eventsOf('responses', BODIES.responses.text)).map(({ event }) => event)
    expect([...new Set(types)]).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
  })

  it('repeats the namespace of the tool it calls, and calls custom tools in their own shape', async () => {
    const inner = { type: 'function', name: 'calculator', parameters: CALC }
    const { body } = await ask('responses', { ...BODIES.responses.call, tools: [{ type: 'namespace', name: 'mcp__sums', tools: [inner] }] })
    expect(at(body, 'output', 0)).toMatchObject({ type: 'function_call', namespace: 'mcp__sums', name: 'calculator' })
    const custom = await ask('responses', { ...BODIES.responses.call, tools: [{ type: 'custom', name: 'calculator' }] })
    expect(at(custom.body, 'output', 0)).toMatchObject({ type: 'custom_tool_call', input: '2 + 3 * 4' })
    const events = await eventsOf('responses', { ...BODIES.responses.call, tools: [{ type: 'custom', name: 'calculator' }] })
    expect(events.map(({ event }) => event)).toContain('response.custom_tool_call_input.done')
  })

  it('a cut answer says that it is incomplete', async () => {
    const { body } = await ask('responses', BODIES.responses.cut)
    expect(body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  })
})

describe('messages', () => {
  it.each(KINDS)('a streamed %s is the whole one in pieces', async (kind) => {
    const { body } = await ask('messages', BODIES.messages[kind])
    const events = await eventsOf('messages', BODIES.messages[kind])
    const data = dataOf(events)
    expect(events.map(({ event }) => event)).toEqual(data.map((event) => event['type']))
    const deltas = data.map((event) => textAt(event, 'delta', 'text') + textAt(event, 'delta', 'partial_json')).join('')
    if (kind === 'call') expect(JSON.parse(deltas)).toEqual(at(body, 'content', 0, 'input'))
    else expect(deltas).toBe(at(body, 'content', 0, 'text'))
    expect(data.at(-2)).toMatchObject({ type: 'message_delta', delta: { stop_reason: body['stop_reason'] } })
    expect(at(data.at(-2) ?? {}, 'usage', 'output_tokens')).toBe(at(body, 'usage', 'output_tokens'))
    expect(data.at(-1)).toEqual({ type: 'message_stop' })
  })

  it('names why it ended', async () => {
    const reasons = await Promise.all(KINDS.map(async (kind) => (await ask('messages', BODIES.messages[kind])).body['stop_reason']))
    expect(reasons).toEqual(['end_turn', 'tool_use', 'max_tokens'])
  })

  it('stops at a stop sequence and says which', async () => {
    const { body } = await ask('messages', { ...BODIES.messages.text, stop_sequences: ['never said', '9'] })
    expect(body).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: '9' })
    expect(at(body, 'content', 0, 'text')).not.toContain('9')
  })
})

describe('ids', () => {
  it.each([
    ['chat', /^chatcmpl-[0-9a-f]{29}$/],
    ['responses', /^resp_[0-9a-f]{48}$/],
    ['messages', /^msg_[0-9a-f]{24}$/],
  ] as const)('of %s are as long as its provider has them', async (dialect, shape) => {
    expect((await ask(dialect, BODIES[dialect].text)).body).toMatchObject({ id: expect.stringMatching(shape) })
  })
})

describe('every stream', () => {
  it.each(['chat', 'responses', 'messages'] as const)('%s: is several frames, each whole', async (dialect) => {
    const events: readonly SseEvent[] = await eventsOf(dialect, BODIES[dialect].text)
    expect(events.length).toBeGreaterThan(5)
  })
})

const withoutIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null).replaceAll(/"(?:resp|msg|fc|call)_[0-9a-f]+"/g, '"id"'))
