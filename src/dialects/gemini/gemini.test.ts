import { describe, expect, it } from 'vitest'
import { data } from '../../../test/support/frames.ts'
import { bytesOf, eventsOf, read } from '../../../test/support/reading.ts'
import type { JsonObject } from '../../contract/index.ts'
import { readModelAnswer, resultText } from '../index.ts'
import { gemini, geminiCount } from './index.ts'
import { GeminiReader } from './stream.ts'

const chunk = (parts: readonly object[], more: object = {}, head: object = {}): string =>
  data({ candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }], modelVersion: 'g', responseId: 'r', ...head })
const USAGE = { promptTokenCount: 3, candidatesTokenCount: 2, thoughtsTokenCount: 4, totalTokenCount: 9 }

describe('a stream of generateContent', () => {
  it('is put together into the whole answer: texts grow, thoughts and signed parts stay apart', () => {
    const frames = [
      chunk([{ text: 'let me', thought: true }]),
      chunk([{ text: ' see', thought: true }]),
      chunk([{ text: 'hé' }]),
      chunk([{ text: 'llo' }, { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 's' }]),
      chunk([{ text: '' }], { finishReason: 'STOP' }, { usageMetadata: USAGE }),
    ]
    const { reader } = read(gemini, bytesOf(frames))
    expect(reader.answer()).toEqual({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'let me see', thought: true },
              { text: 'héllo' },
              { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 's' },
              { text: '' },
            ],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      modelVersion: 'g',
      responseId: 'r',
      usageMetadata: USAGE,
    })
  })

  it('may end with a reason to stop, with a blocked prompt, and not before', () => {
    const reader = new GeminiReader()
    expect(reader.take(Buffer.from(chunk([{ text: 'a' }])))).toBe(false)
    expect(reader.take(Buffer.from(chunk([{ text: 'b' }], { finishReason: 'MAX_TOKENS' })))).toBe(true)
    expect(new GeminiReader().take(Buffer.from(data({ promptFeedback: { blockReason: 'SAFETY' } })))).toBe(true)
    expect(reader.endsWithStream).toBe(true)
  })

  it('has the receipt on its last chunk', () => {
    const last = chunk([{ text: 'b' }], { finishReason: 'STOP' })
    const [event] = eventsOf(new GeminiReader().ending(Buffer.from(last), 'rec_1'))
    expect(event?.data).toMatchObject({ candidates: [{ finishReason: 'STOP' }], 'svc.agent_record_id': 'rec_1' })
  })

  it('keeps the digits of a call in its last chunk, for the client and for the record', () => {
    const call = '{"functionCall":{"name":"pay","args":{"order":9007199254740993,"rate":1.0,"id":1,"id":2}}}'
    const last = `{"candidates":[{"content":{"parts":[${call}],"role":"model"},"finishReason":"STOP"}]`
    const reader = new GeminiReader()
    expect(reader.take(Buffer.from(`data: ${last}}\r\n\r\n`))).toBe(true)
    expect(reader.ending(Buffer.from(`data: ${last}}\r\n\r\n`), 'r').toString()).toBe(
      `data: ${last},"svc":{"agent_record_id":"r"},"svc.agent_record_id":"r"}\r\n\r\n`,
    )
    expect(JSON.stringify(reader.answer())).toContain('"order":9007199254740993,')
  })

  it('names the failure that came as a chunk', () => {
    const reader = new GeminiReader()
    reader.take(Buffer.from(data({ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } })))
    expect(reader.failure).toBe('overloaded')
  })
})

const ASKED: JsonObject = {
  systemInstruction: { parts: [{ text: 'be brief' }] },
  contents: [
    { role: 'user', parts: [{ text: 'what is it' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
    { role: 'model', parts: [{ text: 'hm', thought: true }, { functionCall: { name: 'look', args: { at: 1 } } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'look', response: { result: 'a cat' } } }] },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: 'look', description: 'Looks.', parameters: { type: 'OBJECT', properties: { at: { type: 'NUMBER' } } } },
      ],
    },
    { googleSearch: {} },
  ],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
  generationConfig: { maxOutputTokens: 9, stopSequences: ['END'], temperature: 0.5, topK: 3, responseMimeType: 'application/json' },
}

describe('a request', () => {
  it('is read into turns, tools, choice and limits', () => {
    const { turns, tools, choice, tokensMax, stops, format, sampling } = gemini.reader.read(ASKED)
    expect(turns.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(turns[1]?.parts[1]).toMatchObject({ kind: 'image', address: 'data:image/png;base64,AAAA', where: 'contents.0.parts.1' })
    expect(turns[2]?.parts).toMatchObject([
      { kind: 'thinking', text: 'hm' },
      { kind: 'call', id: 'look', name: 'look', input: { at: 1 } },
    ])
    const result = turns[3]?.parts[0]
    expect(result?.kind === 'result' && [result.callId, resultText(result)]).toEqual(['look', 'a cat'])
    expect(tools).toMatchObject([
      { name: 'look', shape: 'function', parameters: { type: 'object', properties: { at: { type: 'number' } } } },
      { name: 'googleSearch', shape: 'hosted' },
    ])
    expect({ choice, tokensMax, stops, format, sampling }).toEqual({
      choice: { kind: 'named', name: 'look' },
      tokensMax: 9,
      stops: ['END'],
      format: { schema: null },
      sampling: { temperature: 0.5, top_k: 3 },
    })
  })

  it('may spell its members in snake case', () => {
    const { turns, tokensMax } = gemini.reader.read({
      system_instruction: { parts: [{ text: 'be brief' }] },
      contents: [{ parts: [{ text: 'hi' }] }],
      generation_config: { max_output_tokens: 5 },
    })
    expect([turns.map(({ role }) => role), tokensMax]).toEqual([['system', 'user'], 5])
  })

  it('becomes a chat request for an engine, and is refused with a picture', () => {
    const { contents: _contents, ...rest } = ASKED
    const body = { ...rest, contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
    expect(gemini.chatRequest(body)).toMatchObject({ messages: [{ role: 'system' }, { role: 'user', content: 'hi' }], max_tokens: 9 })
    expect(() => gemini.chatRequest(ASKED)).toThrow('contents.0.parts.1')
  })

  it.each([
    ['no contents', {}, 'm', 'contents is not specified'],
    ['no model', { contents: [{}] }, '', 'model'],
    ['a content that is none', { contents: ['hi'] }, 'm', 'contents[0]'],
    ['a limit that is none', { contents: [{}], generationConfig: { maxOutputTokens: 0 } }, 'm', 'max_output_tokens'],
    ['calls of nothing', { contents: [{}], toolConfig: { functionCallingConfig: { mode: 'ANY' } } }, 'm', 'function_declarations'],
  ])('with %s is refused', (_what, body, model, words) => {
    expect(gemini.faultIn(body, model)?.message).toContain(words)
  })

  it('names its model and its stream in the path', () => {
    const path = '/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse'
    expect([gemini.modelIn(path, {}), gemini.isStreamed(path, {}), gemini.pathFault?.(path)]).toEqual(['gemini-2.0-flash', true, null])
    expect(gemini.pathFault?.('/v1beta/models/m:streamGenerateContent')).toMatchObject({ code: 'alt_not_sse' })
    expect(gemini.pathFault?.('/v1beta/models/m:generateContent')).toBeNull()
  })

  it('for a model is written with its tools, calls and results, and its answer read', () => {
    const tool = { name: 'add', description: 'Adds.', parameters: { type: 'object' } }
    const messages = [
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'Add 1.' },
      { role: 'assistant' as const, content: '', calls: [{ id: 'c0', name: 'add', arguments: '{"a":0}' }] },
      { role: 'tool' as const, call_id: 'c0', content: '0' },
    ]
    expect(gemini.writeRequest({ model: 'm', messages, tools: [tool], tokensMax: 50 })).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Add 1.' }] },
        { role: 'model', parts: [{ functionCall: { id: 'c0', name: 'add', args: { a: 0 } } }] },
        { role: 'user', parts: [{ functionResponse: { id: 'c0', name: 'add', response: { result: '0' } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'add', description: 'Adds.', parametersJsonSchema: { type: 'object' } }] }],
      generationConfig: { maxOutputTokens: 50 },
    })
    const answer = { candidates: [{ content: { parts: [{ text: 'Adding.' }, { functionCall: { name: 'add', args: { a: 1 } } }] } }] }
    expect(readModelAnswer(gemini, { ...answer, usageMetadata: USAGE })).toEqual({
      text: 'Adding.',
      calls: [{ id: 'add', name: 'add', arguments: '{"a":1}' }],
      inputTokens: 3,
      outputTokens: 6,
    })
  })
})

describe('an error', () => {
  it('has its status twice, and our code in its details', () => {
    expect(gemini.writeError(404, { message: 'no', code: 'unknown_scenario' })).toMatchObject({
      error: { code: 404, message: 'no', status: 'NOT_FOUND', details: [{ reason: 'unknown_scenario' }] },
    })
    expect(gemini.isError({ error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT' } })).toBe(true)
    expect(gemini.isError({ error: { message: 'no', type: 'x' } })).toBe(false)
  })
})

it('counting tokens answers with their total, and is never streamed', () => {
  expect([geminiCount.writeCount?.(7), geminiCount.openStream]).toEqual([{ totalTokens: 7 }, undefined])
  const inner = { contents: [{ parts: [{ text: 'hi' }] }] }
  expect(geminiCount.faultIn({ generateContentRequest: inner }, 'm')).toBeNull()
  expect(geminiCount.chatRequest({ generateContentRequest: inner })).toEqual({ messages: [{ role: 'user', content: 'hi' }] })
})
