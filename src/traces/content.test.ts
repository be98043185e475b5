import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../contract/index.ts'
import { dialects } from '../dialects/index.ts'
import * as spans from './content.ts'

const reader = dialects.chat.reader
const instructionsOf = (request: JsonObject) => spans.instructionsOf(request, reader)
const inputMessages = (request: JsonObject) => spans.inputMessages(request, reader)
const outputMessages = (answer: JsonObject) => spans.outputMessages(answer, reader)

const said = (printed: string | null): unknown => JSON.parse(printed ?? 'null')

describe('what was asked', () => {
  it('in chat completions: texts, parts, tool calls and their results', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
    const image = { type: 'image_url', image_url: { url: 'http://i' } }
    const messages = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: [{ type: 'text', text: 'look' }, image] },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
    ]
    expect(said(inputMessages({ messages }))).toEqual([
      { role: 'system', parts: [{ type: 'text', content: 'be brief' }] },
      { role: 'user', parts: [{ type: 'text', content: 'look' }, image] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'f', arguments: '{"a":1}' }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'done' }] },
    ])
  })

  it('in messages: blocks, and the system beside them', () => {
    const messages = [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'done' }] },
    ]
    expect(said(inputMessages({ messages }))).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'hm' },
          { type: 'tool_call', id: 't1', name: 'f', arguments: { a: 1 } },
        ],
      },
      { role: 'user', parts: [{ type: 'tool_call_response', id: 't1', response: 'done' }] },
    ])
    expect(said(instructionsOf({ system: [{ type: 'text', text: 'be brief' }] }))).toEqual([{ type: 'text', content: 'be brief' }])
  })

  it('in responses: a text, or items', () => {
    expect(said(inputMessages({ input: 'hello' }))).toEqual([{ role: 'user', parts: [{ type: 'text', content: 'hello' }] }])
    const input = [
      { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
    ]
    expect(said(inputMessages({ input }))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'go' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'f', arguments: '{}' }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'done' }] },
    ])
    expect(said(instructionsOf({ instructions: 'be brief' }))).toEqual([{ type: 'text', content: 'be brief' }])
  })

  it('is nothing where nothing of the kind was sent', () => {
    expect([inputMessages({}), inputMessages({ messages: 1 }), instructionsOf({}), outputMessages({})]).toEqual([null, null, null, null])
  })
})

describe('what was answered', () => {
  const hello = { role: 'assistant', parts: [{ type: 'text', content: 'hello' }] }

  it('is one message per choice, with the reason it ended', () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
    expect(said(outputMessages({ choices }))).toEqual([{ ...hello, finish_reason: 'stop' }])
    expect(said(outputMessages({ content: [{ type: 'text', text: 'hello' }], stop_reason: 'end_turn' }))).toEqual([
      { ...hello, finish_reason: 'end_turn' },
    ])
    const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hello' }] }]
    expect(said(outputMessages({ output, status: 'completed' }))).toEqual([{ ...hello, finish_reason: 'completed' }])
  })
})

describe('a format whose parts say no type', () => {
  const gemini = dialects.gemini.reader
  const call = { functionCall: { name: 'f', args: { a: 1 } } }
  const request = {
    systemInstruction: { parts: [{ text: 'be brief' }] },
    contents: [
      {
        role: 'user',
        parts: [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }, { executableCode: { code: '1' } }],
      },
      { role: 'model', parts: [{ text: 'hm', thought: true }, call] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { result: 'done' } } }] },
    ],
  }

  it('is shown as its dialect reads it', () => {
    expect(said(spans.instructionsOf(request, gemini))).toEqual([{ type: 'text', content: 'be brief' }])
    const toolCall = { type: 'tool_call', id: 'f', name: 'f', arguments: { a: 1 } }
    expect(said(spans.inputMessages(request, gemini))).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'look' },
          { type: 'uri', modality: 'image', uri: 'data:image/png;base64,aGk=' },
          { type: 'executableCode', executableCode: { code: '1' } },
        ],
      },
      { role: 'assistant', parts: [{ type: 'reasoning', content: 'hm' }, toolCall] },
      { role: 'user', parts: [{ type: 'tool_call_response', id: 'f', response: 'done' }] },
    ])
    const candidates = [{ content: { role: 'model', parts: [call] }, finishReason: 'STOP' }]
    expect(said(spans.outputMessages({ candidates }, gemini))).toEqual([{ role: 'assistant', parts: [toolCall], finish_reason: 'STOP' }])
  })

  it('is nothing where nothing was sent', () => {
    expect([spans.instructionsOf({}, gemini), spans.inputMessages({}, gemini), spans.outputMessages({}, gemini)]).toEqual([
      null,
      null,
      null,
    ])
  })
})

describe('whatever is sent', () => {
  it('is cut: long texts each, and of many messages the newest stay', () => {
    const messages = Array.from({ length: 1000 }, (_, at) => ({ role: 'user', content: `${at} ${'x'.repeat(100_000)}` }))
    const printed = inputMessages({ messages })
    expect(printed?.length).toBeLessThanOrEqual(8192)
    expect(said(printed)).toMatchObject([
      { parts: [{ content: expect.stringMatching(/^997 x{2044}$/) }] },
      {},
      { parts: [{ content: expect.stringMatching(/^999 /) }] },
    ])
  })

  it('shows the newest message in any case: of many texts in it, each is cut shorter', () => {
    const content = Array.from({ length: 20 }, (_, at) => ({ type: 'text', text: `${at} ${'x'.repeat(100_000)}` }))
    const printed = inputMessages({ messages: [{ role: 'user', content }] })
    expect(printed?.length).toBeLessThanOrEqual(8192)
    expect(said(printed)).toMatchObject([{ parts: content.map((_, at) => ({ content: expect.stringMatching(new RegExp(`^${at} x+$`)) })) }])
  })

  it('has no half characters in it, also where a text was cut', () => {
    const messages = [{ role: 'user', content: `\ud800${'a'.repeat(2046)}😀` }]
    expect(inputMessages({ messages })?.isWellFormed()).toBe(true)
    expect(inputMessages({ messages })).not.toMatch(/\\ud[89a-f]/i)
  })

  it.each([
    [null],
    [[null, 1, 'x', [], {}]],
    [[{ role: 1, content: 2 }]],
    [[{ tool_calls: [null, {}] }]],
    [[{ type: 'odd', type2: null }]],
  ])('has the shape of messages: %j', (messages) => {
    const printed = said(inputMessages({ messages, input: [] }))
    for (const message of Array.isArray(printed) ? printed : []) {
      expect(message).toMatchObject({ role: expect.any(String), parts: expect.any(Array) })
      for (const part of message.parts) expect(part).toMatchObject({ type: expect.any(String) })
    }
  })
})
