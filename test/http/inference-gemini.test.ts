/** Gemini's format at the service: whole and streamed, tools, receipts, errors, and bytes that pass unchanged. */
import { describe, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/contract/index.ts'
import { data } from '../support/frames.ts'
import { eventsOf } from '../support/reading.ts'
import { sendFrames, sendJson } from '../support/upstream.ts'
import { sharedWorld, type Answer, type World } from '../support/world.ts'

const TOKEN = 'the-service-token'
const KEY = 'the-upstream-key'
const HERE = { 'x-goog-api-key': TOKEN, 'x-svc-scenario': 'gemini' }
const WHOLE = '/v1beta/models/gemini-2.0-flash:generateContent'
const STREAM = '/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse'
const COUNT = '/v1beta/models/gemini-2.0-flash:countTokens'
const ASKED = { contents: [{ role: 'user', parts: [{ text: 'What is 2 + 3 * 4?' }] }] }
const USAGE = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
const answerOf = (text: string, more: object = {}): object => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
  modelVersion: 'gemini-2.0-flash-001',
})
const FRAMES = [
  data(answerOf('hel')),
  data({ ...answerOf('lo', { finishReason: 'STOP' }), usageMetadata: USAGE }),
  data({ ...answerOf('!', { finishReason: 'STOP' }), usageMetadata: USAGE }),
]
const unended = (frame = ''): string => frame.trimEnd()

const recordOf = async (here: World, receipt: unknown): Promise<JsonObject> =>
  (await here.get(`/svc/scenarios/gemini/records/${String(receipt)}`, HERE)).json
const receiptIn = (answer: Answer): Json | undefined => {
  const last = eventsOf(answer.bytes).at(-1)?.data
  return isObject(last) ? last['svc.agent_record_id'] : undefined
}

describe('in front of an upstream that speaks it', () => {
  const here = sharedWorld({ settings: { 'svc.token': TOKEN, 'inference.upstream_api_key': KEY } })

  it('bytes, path and query go through untouched, with the key of the deployment', async () => {
    const said = { ...answerOf('hi', { finishReason: 'STOP' }), usageMetadata: USAGE }
    here.upstream.answer((_received, response) => sendJson(response, 200, said))
    const odd = '{ "contents" : [{"parts":[{"text":"\\u00e9 é"}]}],\t"a":1E0 }\n'
    const answer = await here.post(`${WHOLE}?x=%2F`, odd, HERE)
    expect(answer.json).toEqual(said)
    const received = here.upstream.received.at(-1)
    expect([received?.url, received?.body.toString()]).toEqual([`${WHOLE}?x=%2F`, odd])
    expect(received?.headers).toMatchObject({ 'x-goog-api-key': KEY })
    expect(received?.headers.authorization).toBeUndefined()
    expect(await recordOf(here, answer.headers['x-svc-agent-record-id'])).toMatchObject({
      payload: { contents: [{ parts: [{ text: 'é é' }] }], response: { modelVersion: 'gemini-2.0-flash-001' } },
      summary: { model: 'gemini-2.0-flash-001', input_tokens: 3, output_tokens: 2 },
    })
  })

  it('a stream passes as it came; its last chunk waits for the record and has the receipt', async () => {
    here.upstream.answer((_received, response) => sendFrames(response, FRAMES))
    const answer = await here.post(STREAM, ASKED, HERE)
    expect(answer.headers['content-type']).toMatch(/^text\/event-stream/)
    expect(answer.text.startsWith(`${FRAMES[0]}${FRAMES[1]}`)).toBe(true)
    expect(eventsOf(answer.bytes)).toHaveLength(3)
    expect(await recordOf(here, receiptIn(answer))).toMatchObject({
      payload: {
        response: { complete: true, stream: true, candidates: [{ content: { parts: [{ text: 'hello!' }] }, finishReason: 'STOP' }] },
      },
    })
  })

  const COUNTS = data({ usageMetadata: { promptTokenCount: 7 }, modelVersion: 'gemini-2.0-flash-001' })
  it.each([
    ['a comment', [': bye\n\n'], 2],
    ['counts in a chunk of their own', [COUNTS], 3],
    ['counts without a blank line', [unended(COUNTS)], 3],
    ['a last chunk without a blank line', [unended(FRAMES[2])], 3],
    ['a comment without a blank line', [': bye'], 2],
  ])('a stream with %s behind its last words is whole, and the client gets all of it', async (_what, tail, events) => {
    const frames = [...FRAMES.slice(0, 2), ...tail]
    here.upstream.answer((_received, response) => sendFrames(response, frames))
    const answer = await here.post(STREAM, ASKED, HERE)
    const sent = eventsOf(Buffer.from(`${frames.join('')}\n\n`)).map(({ data: chunk }) => chunk)
    const came = eventsOf(Buffer.from(`${answer.text}\n\n`)).map(({ data: chunk }) => chunk)
    expect(came).toMatchObject(sent)
    expect(came).toHaveLength(events)
    const last = came.at(-1)
    const receipt = isObject(last) ? last['svc.agent_record_id'] : undefined
    expect(answer.text.endsWith(': bye') || answer.text.endsWith('\n\n')).toBe(true)
    expect(await recordOf(here, receipt)).toMatchObject({ payload: { response: { complete: true } } })
  })

  it('a stream that ends without a reason is kept as interrupted', async () => {
    here.upstream.answer((_received, response) => sendFrames(response, FRAMES.slice(0, 1)))
    const answer = await here.post(STREAM, ASKED, HERE)
    expect([answer.text, receiptIn(answer)]).toEqual([FRAMES[0], undefined])
  })

  it.each([
    ['/v1', '/v1'],
    ['', '/v1beta'],
  ])('what is asked below %j is the same call, and reaches the upstream below %s', async (version, sent) => {
    here.upstream.answer((_received, response) => sendFrames(response, FRAMES))
    const streamed = await here.post(STREAM.replace('/v1beta', version), ASKED, HERE)
    expect(here.upstream.received.at(-1)?.url).toBe(STREAM.replace('/v1beta', sent))
    expect(await recordOf(here, receiptIn(streamed))).toMatchObject({ summary: { model: 'gemini-2.0-flash-001' } })
    here.upstream.answer((_received, response) => sendJson(response, 200, { totalTokens: 3 }))
    expect((await here.post(COUNT.replace('/v1beta', version), ASKED, HERE)).json).toEqual({ totalTokens: 3 })
    const refused = await here.post(WHOLE.replace('/v1beta', version), ASKED, { 'x-goog-api-key': TOKEN })
    expect(refused.json).toMatchObject({ error: { status: 'INVALID_ARGUMENT', details: [{ reason: 'scenario_missing' }] } })
    expect(await errorOf(`${version}/models/m:batchEmbedContents`, HERE)).toMatchObject({ code: 404, status: 'NOT_FOUND' })
    expect((await here.get(WHOLE.replace('/v1beta', version), HERE)).status).toBe(405)
  })

  it("an upstream's error comes back in its own words", async () => {
    const error = { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED' } }
    here.upstream.answer((_received, response) => sendJson(response, 429, error))
    const answer = await here.post(WHOLE, ASKED, HERE)
    expect([answer.status, answer.json]).toEqual([429, error])
  })

  const errorOf = async (path: string, headers: Record<string, string>) => (await here.post(path, ASKED, headers)).json['error']
  it('errors of the service have the shape of the format', async () => {
    const missing = { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: 'scenario_missing' }] }
    expect(await errorOf(WHOLE, { 'x-goog-api-key': TOKEN })).toMatchObject(missing)
    expect(await errorOf(WHOLE, { ...HERE, 'x-goog-api-key': 'wrong' })).toMatchObject({ code: 401, status: 'UNAUTHENTICATED' })
    expect(await errorOf('/v1beta/models/m:batchEmbedContents', HERE)).toMatchObject({ code: 404, status: 'NOT_FOUND' })
  })

  it('a stream that is no event stream is refused by name, and a key in the address is never accepted', async () => {
    const answer = await here.post('/v1beta/models/m:streamGenerateContent', ASKED, HERE)
    expect([answer.status, answer.json]).toMatchObject([400, { error: { details: [{ reason: 'alt_not_sse' }] } }])
    expect((await here.post(`${WHOLE}?key=${TOKEN}`, ASKED, { 'x-svc-scenario': 'gemini' })).status).toBe(401)
  })
})

describe('answered by the built-in mock model', () => {
  const here = sharedWorld({ settings: { 'svc.token': TOKEN, 'inference.runtime': 'practice' } })

  it('whole and streamed it says the same, and both are kept', async () => {
    await here.post(WHOLE, ASKED, HERE)
    const whole = await here.post(WHOLE, ASKED, HERE)
    expect(whole.json).toMatchObject({
      candidates: [{ finishReason: 'STOP', content: { role: 'model' } }],
      modelVersion: 'gemini-2.0-flash',
    })
    const streamed = await here.post(STREAM, ASKED, HERE)
    const { payload } = await recordOf(here, receiptIn(streamed))
    expect(isObject(payload) && payload['response']).toMatchObject({ candidates: whole.json['candidates'] ?? [], complete: true })
  })

  it('it calls a tool that is declared', async () => {
    const parameters = { type: 'OBJECT', properties: { expression: { type: 'STRING' } }, required: ['expression'] }
    const tools = [{ functionDeclarations: [{ name: 'calculator', description: 'Does sums.', parameters }] }]
    const answer = await here.post(WHOLE, { ...ASKED, tools }, HERE)
    expect(answer.json).toMatchObject({
      candidates: [{ content: { parts: [{ functionCall: { name: 'calculator', args: { expression: '2 + 3 * 4' } } }] } }],
    })
  })

  it('it counts tokens, and refuses what the provider would', async () => {
    expect((await here.post(COUNT, ASKED, HERE)).json).toEqual({ totalTokens: expect.any(Number) })
    expect((await here.post(WHOLE, {}, HERE)).json).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } })
  })

  it('evaluation routes speak it too, and keep nothing', async () => {
    const answer = await here.post(`/svc/scenarios/gemini/evaluation${WHOLE}`, ASKED, HERE)
    expect(answer.json).toMatchObject({ candidates: [{ finishReason: 'STOP' }] })
    expect(answer.headers['x-svc-agent-record-id']).toBeUndefined()
    for (const path of [WHOLE.replace('v1beta', 'v1'), WHOLE.replace('/v1beta', '')])
      expect((await here.post(`/svc/scenarios/gemini/evaluation${path}`, ASKED, HERE)).json).toEqual(answer.json)
  })
})
