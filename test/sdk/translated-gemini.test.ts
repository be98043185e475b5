/** Clients of Gemini's format on upstreams that speak another one alone. The upstream is the mock model, which speaks them all by itself. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callOf, practice } from '../../plugins/runtimes/practice/testing.ts'
import type { JsonObject } from '../../src/contract/index.ts'
import { dialectOfCall, objectOf, objectsOf, textOf } from '../../src/dialects/index.ts'
import { recordsOf } from '../support/kept.ts'
import { eventsOf } from '../support/reading.ts'
import { startUpstream, type Script, type Upstream } from '../support/upstream.ts'
import { world, type World } from '../support/world.ts'

const FORMATS = ['chat', 'responses', 'messages']

const model = practice()
const answerInFormat: Script = async ({ url, body }, response) => {
  const dialect = dialectOfCall(url)
  if (dialect === null) throw new Error(`no call of a model: ${url}`)
  const answer = await model.infer(callOf(dialect.name, body.toString(), { path: url }))
  if (answer.kind === 'interrupted') throw new Error('the mock model is never interrupted')
  response.writeHead(answer.status, answer.headers)
  if (answer.kind === 'stream') for await (const chunk of answer.chunks) response.write(chunk)
  response.end(answer.kind === 'whole' ? answer.body : undefined)
}

let here: World
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
  const upstreams = FORMATS.flatMap((format) => [
    [`inference.upstreams.${format}.url`, upstream.url],
    [`inference.upstreams.${format}.formats`, `[${format}]`],
    [`inference.upstreams.${format}.models`, `[on-${format}]`],
  ])
  here = await world({ settings: { ...Object.fromEntries(upstreams), 'inference.upstream_url': null } })
})
afterAll(async () => {
  await here.close()
  await upstream.close()
})
beforeEach(() => {
  upstream.answer(answerInFormat)
  upstream.received.length = 0
})

const parameters = { type: 'OBJECT', properties: { expression: { type: 'STRING' } }, required: ['expression'] }
const tools = [{ functionDeclarations: [{ name: 'calculator', description: 'A calculator.', parameters }] }]
const question = { role: 'user', parts: [{ text: 'What is 17 * 42?' }] }
const called = (n: number) => ({ functionCall: { name: 'calculator', args: { expression: `${n}` } } })
const gave = (said: string) => ({ functionResponse: { name: 'calculator', response: { output: said } } })
const path = (to: string, how = 'generateContent'): string => `/v1beta/models/on-${to}:${how}`
const partsIn = (answer: JsonObject): readonly JsonObject[] =>
  objectsOf(answer['candidates']).flatMap((candidate) => objectsOf(objectOf(candidate['content'])['parts']))
const wordsIn = (answers: readonly JsonObject[]): string =>
  answers
    .flatMap(partsIn)
    .map(({ text }) => textOf(text))
    .join('')

describe.each(FORMATS)('a client of gemini on an upstream of %s', (to) => {
  it('uses a tool and gets its answer, whole and streamed; the record says that it was translated', async () => {
    const scenario = { 'x-svc-scenario': `gemini-on-${to}` }
    const first = await here.post(
      path(to),
      { contents: [question], tools, systemInstruction: { parts: [{ text: 'Be brief.' }] } },
      scenario,
    )
    const [call] = partsIn(JSON.parse(first.text)).flatMap((part) => (part['functionCall'] === undefined ? [] : [part]))
    expect(call).toMatchObject({ functionCall: { name: 'calculator', args: { expression: '17 * 42' } } })
    // As the official clients do: a result has the name of its function alone.
    const result = { role: 'user', parts: [{ functionResponse: { name: 'calculator', response: { output: 'The result is 714.' } } }] }
    const contents = [question, { role: 'model', parts: [call ?? {}] }, result]
    const whole = await here.post(path(to), { contents, tools }, scenario)
    expect(wordsIn([JSON.parse(whole.text)])).toContain('714')
    expect(JSON.parse(whole.text)).toMatchObject({ usageMetadata: { promptTokenCount: expect.any(Number) } })
    const streamed = await here.post(`${path(to, 'streamGenerateContent')}?alt=sse`, { contents, tools }, scenario)
    const chunks = eventsOf(Buffer.from(streamed.text)).map(({ data }) => objectOf(data))
    expect(wordsIn(chunks)).toBe(wordsIn([JSON.parse(whole.text)]))
    expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }], 'svc.agent_record_id': expect.any(String) })
    expect(upstream.received.map(({ url }) => dialectOfCall(url)?.name)).toEqual([to, to, to])
    for (const record of await recordsOf(here, scenario['x-svc-scenario']))
      expect(record).toMatchObject({ summary: { upstream_format: to }, payload: { response: { translation: { from: 'gemini', to } } } })
  })

  it('may call one function twice at once without ids: each result is of its own call', async () => {
    const contents = [question, { role: 'model', parts: [called(1), called(2)] }, { role: 'user', parts: [gave('one'), gave('two')] }]
    expect((await here.post(path(to), { contents, tools }, { 'x-svc-scenario': 'twice' })).status).toBe(200)
    const asked = upstream.received.at(-1)?.body.toString() ?? ''
    const ids = [...asked.matchAll(/"(?:id|call_id|tool_call_id|tool_use_id)":"(calculator\w*)"/g)].map(([, id]) => id)
    expect(ids).toEqual(['calculator', 'calculator_2', 'calculator', 'calculator_2'])
  })

  it.each<[string, JsonObject, string]>([
    ['a tool of the provider', { tools: [{ googleSearch: {} }] }, 'tools.0.googleSearch: '],
    ['a file at the provider', { contents: [{ parts: [{ fileData: { fileUri: 'x' } }] }] }, 'contents.0.parts.0.fileData: '],
    ['a part that is two things', { contents: [{ parts: [{ text: 'a', functionCall: { name: 'b' } }] }] }, 'contents.0.parts.0: '],
    ['a cached prompt', { cachedContent: 'cachedContents/1' }, 'cachedContent: '],
    ['a filter', { safetySettings: [{ category: 'A', threshold: 'BLOCK_LOW_AND_ABOVE' }] }, 'safetySettings.0.threshold: '],
    [
      'several names',
      { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['calculator', 'b'] } }, tools },
      'toolConfig.',
    ],
    ['a schema without its type', { generationConfig: { responseSchema: {} } }, 'generationConfig.responseSchema: '],
    ['a field in both spellings', { toolConfig: {}, tool_config: {} }, 'tool_config: '],
  ])('is refused by name: %s', async (_what, body, name) => {
    const answer = await here.post(path(to), { contents: [question], ...body }, { 'x-svc-scenario': 'refused' })
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      400,
      { error: { status: 'INVALID_ARGUMENT', message: expect.stringContaining(name), details: [{ reason: 'cannot_translate' }] } },
    ])
    expect(upstream.received).toEqual([])
  })
})
