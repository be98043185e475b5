/** Redaction of payloads: JSON stays JSON, and nothing but the texts changes. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, Redactor } from '../contract/index.ts'
import { changeJson } from './json-texts.ts'
import { redactPayload } from './redact.ts'
import { Redaction } from './redaction.ts'

/** Takes out the word `zoe`, whatever its case. */
const redactor: Redactor = { open: () => (text) => text.replaceAll(/zoe/gi, '[name]') }
const redact = (payload: string): string => redactPayload(payload, redactor)

function mapped(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapped(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [change(key), mapped(member, change)]))
}

const longSaying = (word: string): Buffer => Buffer.from(JSON.stringify({ text: word.repeat(5000) }))
const louder = (text: string): string => `${text}!`

const words = fc.string({
  unit: fc.oneof(fc.constantFrom('zoe', 'Zoe', '"', '\\', '\n', '{', '}', 'é', '𝄞', '\ud83d', ':', ','), fc.string()),
})
const value = fc.letrec<{ any: Json; list: Json; object: Json }>((tie) => ({
  any: fc.oneof({ maxDepth: 4 }, words, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('any'), { maxLength: 4 }),
  object: fc.dictionary(
    words.filter((key) => key !== '__proto__'),
    tie('any'),
    { maxKeys: 4 },
  ),
})).object

const escaped = (json: string): string =>
  json.replaceAll(/[a-z\u0080-\uffff](?=[^"]*")/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)

describe('a payload', () => {
  it('has every text changed, and nothing else', () => {
    fc.assert(
      fc.property(value, (payload) => {
        expect(JSON.parse(changeJson(JSON.stringify(payload), { text: louder }))).toEqual(mapped(payload, louder))
      }),
    )
  })

  it('stays as it was, byte for byte, where there is nothing to take out', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (payload, indent) => {
        const text = JSON.stringify(payload, null, indent)
        expect(changeJson(text, { text: (same) => same })).toBe(text)
      }),
    )
    const odd = String.raw` {"a" :1e3,"b":12345678901234567890.10, "\u0061":"\/"} `
    expect(redact(odd)).toBe(odd)
  })

  it('hides nothing in escapes, also in JSON inside a text inside a text', () => {
    const say = (depth: number): string => (depth === 0 ? 'zoe' : JSON.stringify({ a: say(depth - 1) }))
    for (const depth of [0, 1, 2, 3]) {
      const payload = escaped(JSON.stringify({ text: escaped(say(depth)) }))
      expect(payload).not.toContain('zoe')
      expect(JSON.stringify(JSON.parse(redact(payload)))).toContain('[name]')
    }
    expect(redact(String.raw`{"arguments":"{\"to\":\"\\u007aoe\"}"}`)).toBe(String.raw`{"arguments":"{\"to\":\"[name]\"}"}`)
  })

  it('is read as deep as JSON stands in JSON', () => {
    for (const depth of [4, 5, 9]) {
      let nested = String.raw`{"a":"\u007aoe"}`
      for (let level = 0; level < depth; level += 1) nested = JSON.stringify({ a: nested })
      let redacted = redact(`   ${' '.repeat(30)}${nested}`)
      for (let level = 0; level < depth; level += 1) {
        const { a }: { a: string } = JSON.parse(redacted)
        redacted = a
      }
      expect(redacted).toBe('{"a":"[name]"}')
    }
  })

  it('keeps tags and quoted receipts, and loses the tokens of an answer that was changed', () => {
    const kept = '"metadata":{"tags":{"user":"zoe"}},"references":["zoe"]'
    expect(redact(`{${kept},"metadata_tags":{"a":"zoe"}}`)).toBe(`{${kept},"metadata_tags":{"a":"zoe"}}`)
    expect(redact(`{${kept},"logprobs":true,"response":{"text":"zoe","logprobs":{"content":[{"token":"zo"},{"token":"e"}]}}}`)).toBe(
      `{${kept},"logprobs":true,"response":{"text":"[name]","logprobs":null}}`,
    )
    const plain = '{"response":{"text":"x","logprobs":{"content":[{"token":"x"}]},"training":{"token_ids":[1,2]}}}'
    expect(redact(plain)).toBe(plain)
  })

  it('keeps a tag or a receipt only where one can stand', () => {
    expect(redact('{"metadata":{"tags":{"note":{"deep":"zoe"}}},"references":[{"name":"zoe"}]}')).not.toContain('zoe')
    expect(redact(JSON.stringify({ metadata_tags: { note: `${'long '.repeat(300)} zoe` } }))).not.toContain('zoe')
  })

  it.each([
    ['Hello. Ask zo', 'Hello. '],
    ['One\nzoe said: zo', 'One\n'],
    ['zo', ''],
    ['zoe! And zo', '[name]! '],
    ['你好。zo', '你好。'],
    ['{"to":"zoe","cc":"zo', '{"to":"[name]","cc":"'],
    ['Done. ', 'Done. '],
    ['x'.repeat(100_000), ''],
  ])('of an answer that broke off in %j keeps no more than what had ended', (content, kept) => {
    const message = { role: 'assistant', content, tool_calls: [{ id: 'zo', function: { name: 'zo', arguments: content } }] }
    const said = { messages: [{ content: 'Ask zo' }], response: { id: 'chat-1', choices: [{ message }], cause: 'it broke off' } }
    const whole: unknown = JSON.parse(redactPayload(JSON.stringify(said), redactor, true))
    const call = { id: 'zo', function: { name: 'zo', arguments: kept } }
    const answer = { id: 'chat-1', choices: [{ message: { role: 'assistant', content: kept, tool_calls: [call] } }], cause: 'it broke off' }
    expect(whole).toEqual({ messages: [{ content: 'Ask zo' }], response: answer })
  })

  it('fails without a word of the record where the redactor fails, or gives what is no text', () => {
    const parsing: Redactor = { open: () => (text) => String(JSON.parse(text)) }
    expect(() => redactPayload('{"a":"zoe"}', parsing)).toThrow(/^the redactor threw a SyntaxError, whose message is not logged/)
    const broken: unknown = { open: () => () => undefined }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a plug-in of somebody else
    expect(() => redactPayload('{"a":"zoe"}', broken as Redactor)).toThrow('the redactor answered with undefined in place of a text')
  })

  it('that ends the thread fails alone: the next one gets a new thread', async () => {
    const code = `import { parentPort } from 'node:worker_threads'
      parentPort.on('message', ({ id, payload }) =>
        Buffer.from(payload).includes('fatal') ? process.exit(1) : parentPort.postMessage({ id, payload: Buffer.from('{}') }))`
    const source = { redactor: '', settings: {}, baseDirectory: '' }
    const entry = new URL(`data:text/javascript,${encodeURIComponent(code)}`)
    const redaction = new Redaction({ load: () => Promise.reject(new Error('not needed')), thread: { entry, source } })
    const all = await Promise.allSettled(['plain', 'fatal', 'plain', 'plain'].map((word) => redaction.payload(longSaying(word))))
    await redaction.close()
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  })

  it('is read in linear time, whatever it is made of', () => {
    const size = 200_000
    for (const part of ['"', '\\', '\\"', '{', '[', '{"a":', '"a":"b",', '1', '-', '"\\u00e9"', ' ', '"zoe",'])
      expect(redact(part.repeat(size / part.length))).not.toContain('zoe')
  })

  it('that is no JSON ends without an error', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ':', 'u', '1', '-', 'zoe', ' ') }),
        (text) => void redact(text),
      ),
    )
  })
})
