import { describe, expect, it } from 'vitest'
import type { JsonObject, RuntimeAnswer, RuntimeCall, StreamedAnswer } from '../contract/index.ts'
import { BytePieces, withBody, writeEvent } from '../kit/index.ts'
import { parsedBody } from './request-body.ts'
import { serveStream } from './serve-stream.ts'
import { serve } from './serve.ts'
import { callOf, servingOf } from './testing/scenario.ts'

const FIELDS: JsonObject = { model: 'm', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'hi' }] }

const delta = (said: JsonObject): Buffer => writeEvent(null, JSON.stringify({ choices: [{ delta: said }] }))

/** A call that is never whole, and words behind it, which wait for it. */
async function* withoutEnd(taken: { pieces: number; isLeft: boolean }): AsyncGenerator<Uint8Array> {
  try {
    yield delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'look', arguments: '{' } }] })
    for (; taken.pieces < 1000; taken.pieces++) yield delta({ content: 'x'.repeat(1000) })
  } finally {
    taken.isLeft = true
  }
}

it('a translated stream that is held back is no longer than an answer may be', async () => {
  const taken = { pieces: 0, isLeft: false }
  const { scenario, records } = servingOf()
  const answer: StreamedAnswer = { kind: 'stream', status: 200, headers: {}, chunks: withoutEnd(taken) }
  const speaksChat = { ...scenario.runtime, infer: () => Promise.resolve(answer), formats: () => ['chat'] as const }
  const request = parsedBody(Buffer.from(JSON.stringify(FIELDS)), FIELDS, {})
  const call = callOf({ dialect: 'messages', path: '/v1/messages', request, answerBytesMax: 20_000 })
  const served = await serve({ ...scenario, runtime: speaksChat, model: { ...scenario.model, upstreams: ['one'] } }, call)
  if (served.kind !== 'stream') throw new Error('a stream was expected')
  const sent: Buffer[] = []
  const outlet = { write: (bytes: Buffer) => void sent.push(bytes), end: (bytes: Buffer) => void sent.push(bytes), cut: () => undefined }
  expect(await serveStream(served, outlet, false)).toMatchObject({ cause: expect.stringContaining('20000 bytes') })
  expect(taken).toEqual({ pieces: expect.any(Number), isLeft: true })
  expect(taken.pieces).toBeLessThan(20)
  expect(Buffer.concat(sent).toString()).toContain('event: error')
  expect(records).toHaveLength(1)
})

const readBody = ({ body }: { readonly body: Uint8Array }): unknown => JSON.parse(Buffer.from(body).toString())

describe('a count of tokens', () => {
  const COUNTED: JsonObject = {
    model: 'm',
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ name: 'look', description: 'looks', input_schema: { type: 'object' } }],
  }
  const count = async (formats: readonly ('chat' | 'gemini')[], answered: JsonObject) => {
    const { scenario } = servingOf()
    const asked: RuntimeCall[] = []
    const infer = async (call: RuntimeCall): Promise<RuntimeAnswer> => {
      asked.push(call)
      return withBody({ kind: 'whole', status: 200, headers: {} }, new BytePieces([Buffer.from(JSON.stringify(answered))]))
    }
    const runtime = { ...scenario.runtime, infer, formats: () => formats }
    const request = parsedBody(Buffer.from(JSON.stringify(COUNTED)), COUNTED, {})
    const call = callOf({ dialect: 'count_tokens', path: '/v1/messages/count_tokens', request })
    const served = await serve({ ...scenario, runtime, model: { ...scenario.model, upstreams: ['one'] } }, call)
    const [sent] = asked
    if (sent === undefined || served.kind !== 'whole') throw new Error('one call and a whole answer were expected')
    const { dialect, path } = sent
    return { dialect, path, body: readBody(sent), answer: readBody(served.answer) }
  }

  it('of messages is made by the counting of generateContent, with system prompt and tools', async () => {
    const { dialect, path, body, answer } = await count(['chat', 'gemini'], { totalTokens: 17 })
    expect([dialect, path]).toEqual(['gemini_count_tokens', '/v1beta/models/m:countTokens'])
    expect(body).toMatchObject({
      generateContentRequest: {
        model: 'models/m',
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        tools: [{ functionDeclarations: [{ name: 'look' }] }],
      },
    })
    expect(answer).toEqual({ input_tokens: 17 })
  })

  it('that the upstream answers without a number is no count', async () => {
    for (const answered of [{}, { totalTokens: 'many' }, { totalTokens: -1 }])
      await expect(count(['gemini'], answered)).rejects.toMatchObject({ code: 'upstream_untranslatable' })
  })

  it('goes as it came where no upstream counts, so that it is refused by name', async () => {
    const { dialect, path } = await count(['chat'], { input_tokens: 3 })
    expect([dialect, path]).toEqual(['count_tokens', '/v1/messages/count_tokens'])
  })
})
