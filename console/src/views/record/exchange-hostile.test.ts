/** Exchanges that mean harm, or are of no shape at all. */
import { describe, expect, it } from 'vitest'
import { exchangeOf } from './exchange.ts'
import type { UnknownRecord } from '../../../../src/presentation/index.ts'

const partsOfAnswer = (response: unknown) => exchangeOf({ response }).answers[0]?.parts
const partsOfContent = (content: unknown) => exchangeOf({ messages: [{ role: 'user', content }] }).asked[0]?.parts

describe('what lies elsewhere or is no picture', () => {
  it.each([
    'https://example.com/track.png',
    '//example.com/a.png',
    'data:image/svg+xml;base64,PHN2Zy8+',
    'data:text/html;base64,PGI+',
    'javascript:alert(1)',
    'blob:x',
  ])('%s is an address to read, never to load', (address) => {
    expect(partsOfContent([{ type: 'image_url', image_url: { url: address } }])).toEqual([{ kind: 'address', what: 'image', address }])
    expect(partsOfContent([{ type: 'image', source: { type: 'url', url: address } }])).toEqual([
      { kind: 'address', what: 'image', address },
    ])
  })

  it('a source that lies about its type is no picture', () => {
    expect(partsOfContent([{ type: 'image', source: { media_type: 'text/html', data: 'PGI+' } }])).toMatchObject([{ kind: 'address' }])
  })
})

describe('shapes that are none', () => {
  const odd: readonly unknown[] = [
    null,
    true,
    7,
    'x',
    [],
    {},
    [null, 3, 'y', [[[]]]],
    { type: 7 },
    { type: 'text', text: { a: 1 } },
    { type: 'constructor' },
  ]

  it.each(odd)('%j breaks nothing, wherever it stands', (value) => {
    const payloads: readonly UnknownRecord[] = [
      { response: value },
      { messages: value, system: value, instructions: value, input: value, tools: value, metadata: value, response: {} },
      {
        messages: [value, { role: value, content: value, tool_calls: value, function_call: value }],
        input: [value, { type: 'reasoning', summary: value, content: value }],
      },
      { response: { choices: value, content: value, output: value, usage: value, error: value, cause: value } },
      { response: { choices: [value, { message: value, finish_reason: value }] } },
      {
        response: {
          content: [value, { type: 'tool_result', content: value }, { type: 'image', source: value }, { type: 'tool_use', input: value }],
        },
      },
      { response: { output: [value, { type: 'message', content: value }, { type: 'function_call', arguments: value }] } },
    ]
    for (const payload of payloads) expect(() => exchangeOf(payload)).not.toThrow()
  })

  it('a part of a type not known here is shown as what it is', () => {
    expect(partsOfContent([{ type: 'hologram', data: 1 }])).toEqual([
      { kind: 'other', type: 'hologram', json: '{\n  "type": "hologram",\n  "data": 1\n}' },
    ])
  })

  it('results within results end somewhere', () => {
    let content: unknown = 'deep'
    for (let depth = 0; depth < 2000; depth += 1) content = [{ type: 'tool_result', content: [content] }]
    expect(JSON.stringify(partsOfContent(content))).toContain('other')
  })

  it('imports with answers of their own are shown as they are', () => {
    expect(partsOfAnswer({ text: 'hi' })).toMatchObject([{ kind: 'other', json: '{\n  "text": "hi"\n}' }])
    expect(partsOfAnswer('hi')).toEqual([{ kind: 'text', text: 'hi' }])
    expect(exchangeOf({ messages: [] })).toMatchObject({ answers: [], format: null, trouble: null })
  })

  it('of a thousand settings and counts, the first forty are shown', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, at]))
    const { settings, usage } = exchangeOf({ ...many, response: { usage: { details: many } } })
    expect([settings.length, usage.length]).toEqual([40, 40])
  })

  it('a hundred thousand items are read', () => {
    const input = Array.from({ length: 100_000 }, () => ({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'x' }] }))
    expect(exchangeOf({ input }).asked[0]?.parts).toHaveLength(100_000)
  })
})
