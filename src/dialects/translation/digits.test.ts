/** Whole numbers that a double cannot hold keep their digits in translation. */
import { describe, expect, it } from 'vitest'
import { writeEvent } from '../../kit/index.ts'
import { parseExactly } from '../digits.ts'
import { dialects, type DialectSpec } from '../index.ts'
import { objectOf } from '../values.ts'
import { translate } from './index.ts'

const BIG = '9007199254740993'
const INPUT = `{"id":${BIG},"all":[-1763251200123456789,1.5,7]}`
const SCHEMA = `{"type":"object","properties":{"id":{"type":"integer","maximum":${BIG}}}}`
const { chat, responses, messages, gemini } = dialects

const REQUESTS: readonly (readonly [DialectSpec, string])[] = [
  [
    chat,
    `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":${JSON.stringify(INPUT)}}}]}],
      "tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}]}`,
  ],
  [
    responses,
    `{"model":"m","input":[{"type":"function_call","call_id":"a","name":"f","arguments":${JSON.stringify(INPUT)}}],
      "tools":[{"type":"function","name":"f","parameters":${SCHEMA}}]}`,
  ],
  [
    messages,
    `{"model":"m","max_tokens":5,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":${INPUT}}]}],
      "tools":[{"name":"f","input_schema":${SCHEMA}}]}`,
  ],
]

const ANSWERS: readonly (readonly [DialectSpec, string])[] = [
  [
    chat,
    `{"choices":[{"index":0,"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":${JSON.stringify(INPUT)}}}]},"finish_reason":"tool_calls"}]}`,
  ],
  [messages, `{"content":[{"type":"tool_use","id":"a","name":"f","input":${INPUT}}],"stop_reason":"tool_use"}`],
  [gemini, `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${INPUT}}}]},"finishReason":"STOP"}]}`],
]

const callOf = (from: DialectSpec, text: string) => ({
  path: from.paths[0] ?? '',
  body: objectOf(parseExactly(text)),
  id: 'made-up',
  nowSeconds: 1_700_000_000,
})

/** Arguments are texts in some formats, and objects in the others. */
const plain = (text: string): string => text.replaceAll('\\', '')

describe.each(REQUESTS)('a request of $name', (from, text) => {
  it.each([chat, responses, messages, gemini].filter((to) => to !== from))('on $name', (to) => {
    const sent = plain(JSON.stringify(translate(from, to, callOf(from, text)).body))
    expect(sent).toContain(INPUT)
    expect(sent).toContain(`"maximum":${BIG}`)
  })
})

describe.each(ANSWERS)('an answer of $name', (to, text) => {
  it.each(REQUESTS.filter(([from]) => from !== to))('to a client of $name, whole and streamed', (from, asked) => {
    const translated = translate(from, to, callOf(from, asked))
    expect(plain(JSON.stringify(translated.whole(objectOf(parseExactly(text)))))).toContain(INPUT)
    if (to !== gemini) return
    const stream = translated.openStream()
    const frames = [...stream.push(writeEvent(null, text)), ...stream.end()]
    expect(plain(Buffer.concat(frames).toString())).toContain(INPUT)
  })
})

it('a seed is one of them too', () => {
  const asked = callOf(chat, `{"model":"m","messages":[],"seed":${BIG}}`)
  expect(JSON.stringify(translate(chat, gemini, asked).body)).toContain(`"seed":${BIG}`)
})
