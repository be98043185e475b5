import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../contract/index.ts'
import { dialects } from '../dialects/index.ts'
import { inputMessages, instructionsOf, outputMessages } from './content.ts'

const { chat, messages, responses, gemini } = dialects
const parsed = (printed: string | null): unknown => JSON.parse(printed ?? 'null')
const text = (content: string) => ({ type: 'text', content })
const toolCall = (id: string, given: unknown) => ({ type: 'tool_call', id, name: 'f', arguments: given })
const toolResult = (id: string) => ({ type: 'tool_call_response', id, response: 'done' })
const printed = (request: JsonObject) => inputMessages(request, chat.reader)
const geminiCall = { functionCall: { name: 'f', args: { a: 1 } } }

describe('the input of a request', () => {
  it.each([
    {
      format: 'chat completions: texts, images, tool calls and their results',
      reader: chat.reader,
      request: {
        messages: [
          { role: 'system', content: 'be brief' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'look' },
              { type: 'image_url', image_url: { url: 'http://i' } },
            ],
          },
          { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
          { role: 'tool', tool_call_id: 'c1', content: 'done' },
        ],
      },
      instructions: null,
      input: [
        { role: 'system', parts: [text('be brief')] },
        { role: 'user', parts: [text('look'), { type: 'uri', modality: 'image', uri: 'http://i' }] },
        { role: 'assistant', parts: [toolCall('c1', '{"a":1}')] },
        { role: 'tool', parts: [toolResult('c1')] },
      ],
    },
    {
      format: 'messages: blocks, and the system text apart from them',
      reader: messages.reader,
      request: {
        system: [{ type: 'text', text: 'be brief' }],
        messages: [
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'hm' },
              { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'done' }] },
        ],
      },
      instructions: [text('be brief')],
      input: [
        { role: 'assistant', parts: [{ type: 'reasoning', content: 'hm' }, toolCall('t1', { a: 1 })] },
        { role: 'user', parts: [toolResult('t1')] },
      ],
    },
    {
      format: 'responses: items',
      reader: responses.reader,
      request: {
        instructions: 'be brief',
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
          { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c1', output: 'done' },
        ],
      },
      instructions: [text('be brief')],
      input: [
        { role: 'user', parts: [text('go')] },
        { role: 'assistant', parts: [toolCall('c1', '{}')] },
        { role: 'tool', parts: [toolResult('c1')] },
      ],
    },
    {
      format: 'responses: a text',
      reader: responses.reader,
      request: { input: 'hello' },
      instructions: null,
      input: [{ role: 'user', parts: [text('hello')] }],
    },
    {
      format: 'generateContent: parts that have no type',
      reader: gemini.reader,
      request: {
        systemInstruction: { parts: [{ text: 'be brief' }] },
        contents: [
          {
            role: 'user',
            parts: [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }, { executableCode: { code: '1' } }],
          },
          { role: 'model', parts: [{ text: 'hm', thought: true }, geminiCall] },
          { role: 'user', parts: [{ functionResponse: { name: 'f', response: { result: 'done' } } }] },
        ],
      },
      instructions: [text('be brief')],
      input: [
        {
          role: 'user',
          parts: [
            text('look'),
            { type: 'uri', modality: 'image', uri: 'data:image/png;base64,aGk=' },
            { type: 'executableCode', executableCode: { code: '1' } },
          ],
        },
        { role: 'assistant', parts: [{ type: 'reasoning', content: 'hm' }, toolCall('f', { a: 1 })] },
        { role: 'user', parts: [toolResult('f')] },
      ],
    },
  ])('in $format', ({ reader, request, instructions, input }) => {
    expect(parsed(instructionsOf(request, reader))).toEqual(instructions)
    expect(parsed(inputMessages(request, reader))).toEqual(input)
  })
})

it.each([
  ['chat completions', chat, { choices: [{ message: { content: 'hello' }, finish_reason: 'stop' }] }, text('hello'), 'stop'],
  ['messages', messages, { content: [{ type: 'text', text: 'hello' }], stop_reason: 'end_turn' }, text('hello'), 'end_turn'],
  ['responses', responses, { output: [{ role: 'assistant', content: 'hello' }], status: 'completed' }, text('hello'), 'completed'],
  [
    'generateContent',
    gemini,
    { candidates: [{ content: { parts: [geminiCall] }, finishReason: 'STOP' }] },
    toolCall('f', { a: 1 }),
    'STOP',
  ],
])('the output in %s is one message per choice, with the reason it ended', (_format, { reader }, answer, part, finish_reason) => {
  expect(parsed(outputMessages(answer, reader))).toEqual([{ role: 'assistant', parts: [part], finish_reason }])
})

it.each([chat, messages, responses, gemini])('$name: nothing is printed where nothing was sent', ({ reader }) => {
  for (const print of [instructionsOf, inputMessages, outputMessages]) expect(print({}, reader)).toBeNull()
  expect(inputMessages({ messages: 1, input: 1 }, reader)).toBeNull()
})

describe('content of any size and shape', () => {
  it('is cut: long texts each, and of many messages the newest stay', () => {
    const said = printed({ messages: Array.from({ length: 1000 }, (_, at) => ({ role: 'user', content: `${at} ${'x'.repeat(100_000)}` })) })
    expect(said?.length).toBeLessThanOrEqual(8192)
    expect(parsed(said)).toMatchObject([
      { parts: [{ content: expect.stringMatching(/^997 x{2044}$/) }] },
      {},
      { parts: [{ content: expect.stringMatching(/^999 /) }] },
    ])
  })

  it('shows the newest message in any case: of many texts in it, each is cut shorter', () => {
    const content = Array.from({ length: 20 }, (_, at) => ({ type: 'text', text: `${at} ${'x'.repeat(100_000)}` }))
    const said = printed({ messages: [{ role: 'user', content }] })
    expect(said?.length).toBeLessThanOrEqual(8192)
    expect(parsed(said)).toMatchObject([{ parts: content.map((_, at) => ({ content: expect.stringMatching(new RegExp(`^${at} x+$`)) })) }])
  })

  it('has no half characters in it, also where a text was cut', () => {
    const said = printed({ messages: [{ role: 'user', content: `\ud800${'a'.repeat(2046)}😀` }] })
    expect(said?.isWellFormed()).toBe(true)
    expect(said).not.toMatch(/\\ud[89a-f]/i)
  })

  it.each([
    [null],
    [[null, 1, 'x', [], {}]],
    [[{ role: 1, content: 2 }]],
    [[{ tool_calls: [null, {}] }]],
    [[{ type: 'odd', type2: null }]],
  ])('has the shape of messages: %j', (odd) => {
    const said = parsed(printed({ messages: odd, input: [] }))
    for (const message of Array.isArray(said) ? said : []) {
      expect(message).toMatchObject({ role: expect.any(String), parts: expect.any(Array) })
      for (const part of message.parts) expect(part).toMatchObject({ type: expect.any(String) })
    }
  })
})
