import { expect, it } from 'vitest'
import type { JsonObject, StreamedAnswer } from '../contract/index.ts'
import { writeEvent } from '../kit/index.ts'
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
