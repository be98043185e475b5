import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runtimeConformance } from '../../../conformance/runtime.ts'
import type { Dialect, JsonObject, Runtime } from '../../../src/contract/index.ts'
import plugin from './index.ts'
import { NOTICE, streamed } from './runtime.ts'
import { ask, at, callOf, practice, wholeOf } from './testing.ts'

runtimeConformance({
  describe,
  it,
  make: async () => ({
    runtime: await plugin.plugin.make({}),
    model: { url: 'http://127.0.0.1:1', model: 'some-name', api: 'openai', apiKey: 'key-never-shown' },
  }),
})

const QUESTION = { model: 'm', messages: [{ role: 'user', content: 'What is 2 + 3 * 4?' }] }

async function textFor(runtime: Runtime, body: JsonObject, given: Parameters<typeof callOf>[2]): Promise<string> {
  return String(at(wholeOf(await runtime.infer(callOf('chat', body, given))).body, 'choices', 0, 'message', 'content'))
}

describe('the notice', () => {
  it('stands before the first answer to a person, and only there', async () => {
    const runtime = practice()
    const first = await textFor(runtime, QUESTION, { purpose: 'traffic' })
    const second = await textFor(runtime, QUESTION, { purpose: 'traffic' })
    expect(first.startsWith(`${NOTICE}\n\n`)).toBe(true)
    expect(first.endsWith(second)).toBe(true)
    expect(second).not.toContain('mock model')
  })

  it('is never said in an evaluation, known by its purpose or by its path', async () => {
    const runtime = practice()
    expect(await textFor(runtime, QUESTION, { purpose: 'evaluation' })).not.toContain(NOTICE)
    const path = '/svc/scenarios/s1/evaluation/v1/chat/completions'
    expect(await textFor(runtime, QUESTION, { purpose: 'traffic', path })).not.toContain(NOTICE)
    expect(await textFor(runtime, QUESTION, { purpose: 'traffic' })).toContain(NOTICE)
  })

  it('waits for an answer it does not spoil: no JSON, no tool call, and room for it', async () => {
    const runtime = practice()
    const json = { ...QUESTION, response_format: { type: 'json_object' } }
    expect(JSON.parse(await textFor(runtime, json, { purpose: 'traffic' }))).toHaveProperty('answer')
    const tool = { type: 'function', function: { name: 'calculator', parameters: { type: 'object', properties: { expression: {} } } } }
    expect(await textFor(runtime, { ...QUESTION, tools: [tool] }, { purpose: 'traffic' })).toBe('null')
    expect(await textFor(runtime, { ...QUESTION, max_tokens: 20 }, { purpose: 'traffic' })).not.toContain('mock model')
    expect(await textFor(runtime, QUESTION, { purpose: 'traffic' })).toContain(NOTICE)
  })
})

describe('what the runtime reports', () => {
  it('the status names the mock model, and counts answers', async () => {
    const runtime = practice()
    await ask('chat', QUESTION, runtime)
    await ask('chat', {}, runtime)
    await ask('count_tokens', QUESTION, runtime)
    expect(await runtime.status()).toEqual({ runtime: 'practice', practice: true, notice: NOTICE, answers: 1 })
  })

  it('the model list reads as both vendors write it', async () => {
    const { dialect: _dialect, body: _body, ...call } = callOf('chat', {})
    const { body } = wholeOf(await practice().models({ ...call, model: { ...call.model, model: 'own-model' } }))
    expect(body).toMatchObject({ object: 'list', has_more: false, first_id: 'own-model', last_id: 'practice' })
    expect(at(body, 'data', 0)).toMatchObject({ id: 'own-model', object: 'model', type: 'model', owned_by: 'svc' })
  })

  it('count_tokens answers what usage would count', async () => {
    const { body } = await ask('count_tokens', QUESTION)
    const whole = await ask('messages', { ...QUESTION, max_tokens: 100 })
    expect(body).toEqual({ input_tokens: at(whole.body, 'usage', 'input_tokens') })
  })
})

describe('the same request', () => {
  it('gets the same answer, byte for byte, in every dialect', async () => {
    for (const [dialect, body] of [
      ['chat', QUESTION],
      ['messages', { ...QUESTION, max_tokens: 50 }],
      ['responses', { model: 'm', input: 'hello' }],
    ] as const) {
      expect(await ask(dialect, body)).toEqual(await ask(dialect, body))
    }
  })

  it('in other bytes has another id', async () => {
    expect((await ask('chat', QUESTION)).body['id']).not.toBe((await ask('chat', { ...QUESTION, seed: 1 })).body['id'])
  })
})

describe('settings', () => {
  it('refuse what they do not know', async () => {
    expect(() => plugin.plugin.make({ nose: 1 })).toThrow('"nose"')
    expect(() => plugin.plugin.make({ noise: 2 })).toThrow('noise must be a number from 0 to 1')
    expect(() => plugin.plugin.make({ chunk_delay_ms: '5' })).toThrow('chunk_delay_ms')
  })

  it('a delay between chunks is cut short by an abort', async () => {
    const controller = new AbortController()
    const answer = await practice({ chunkDelayMs: 30_000 }).infer(
      callOf('chat', { ...QUESTION, stream: true }, { signal: controller.signal }),
    )
    if (answer.kind !== 'stream') expect.fail('expected a stream')
    const chunks = answer.chunks[Symbol.asyncIterator]()
    await chunks.next()
    const next = chunks.next()
    controller.abort()
    await expect(next).rejects.toMatchObject({ kind: 'upstream', code: 'call_aborted' })
  })
})

const openai = (message: string, param: string | null, code: string | null): JsonObject => ({
  error: { message, type: 'invalid_request_error', param, code },
})

describe('refusals in the words of the vendors', () => {
  it.each<[Dialect, JsonObject | string, JsonObject]>([
    ['chat', { model: 'm' }, openai("Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter')],
    ['chat', { messages: [] }, openai('you must provide a model parameter', null, null)],
    [
      'chat',
      { ...QUESTION, messages: 'hi' },
      openai("Invalid type for 'messages': expected an array of objects.", 'messages', 'invalid_type'),
    ],
    ['responses', { model: 'm' }, openai("Missing required parameter: 'input'.", 'input', 'missing_required_parameter')],
  ])('%s %j', async (dialect, body, error) => {
    expect(await ask(dialect, body)).toEqual({ status: 400, body: error })
  })

  it.each<[Dialect, JsonObject | string, string]>([
    ['messages', QUESTION, 'max_tokens: Field required'],
    ['messages', { ...QUESTION, max_tokens: 0 }, 'max_tokens: must be greater than or equal to 1'],
    ['messages', { model: 'm', max_tokens: 5 }, 'messages: Field required'],
    ['messages', { model: 'm', max_tokens: 5, messages: [] }, 'messages: at least one message is required'],
    ['count_tokens', { model: 'm' }, 'messages: Field required'],
    [
      'messages',
      { ...QUESTION, max_tokens: 5, tool_choice: { type: 'any' } },
      'tool_choice: tool_choice may only be specified while providing tools',
    ],
  ])('%s %j', async (dialect, body, message) => {
    const answer = await ask(dialect, body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error', message } })
    expect(answer.body['request_id']).toMatch(/^req_/)
  })

  it.each<[Dialect, JsonObject | string]>([
    ['chat', 'not json'],
    ['chat', '[1]'],
    ['chat', ''],
    ['chat', { ...QUESTION, messages: [] }],
    ['chat', { ...QUESTION, messages: [7] }],
    ['chat', { ...QUESTION, max_tokens: -1 }],
    ['chat', { ...QUESTION, max_completion_tokens: 1.5 }],
    ['chat', { ...QUESTION, tool_choice: 'required' }],
    ['responses', { model: 'm', input: 7 }],
    ['responses', { model: 'm', input: 'x', previous_response_id: 'resp_1' }],
    ['chat', `{"model":"m","messages":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('%s %j is a 400 with the shape of the vendor', async (dialect, body) => {
    const answer = await ask(dialect, body)
    expect(answer.status).toBe(400)
    expect(at(answer.body, 'error', 'type')).toBe('invalid_request_error')
  })

  it('nothing anyone sends makes it throw', async () => {
    const dialects = fc.constantFrom<Dialect>('chat', 'responses', 'messages', 'count_tokens')
    const item = fc.oneof(
      fc.jsonValue(),
      fc.record({ role: fc.constantFrom('user', 'assistant', 'tool', 'system', 'x'), content: fc.jsonValue(), type: fc.jsonValue() }),
    )
    const body = fc.record({
      model: fc.constant('m'),
      max_tokens: fc.constant(50),
      messages: fc.oneof(fc.array(item), fc.jsonValue()),
      input: fc.oneof(fc.string(), fc.array(item)),
      tools: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
      tool_choice: fc.jsonValue(),
      response_format: fc.jsonValue(),
      text: fc.jsonValue(),
      stop: fc.jsonValue(),
    })
    await fc.assert(
      fc.asyncProperty(dialects, body, async (dialect, value) => {
        const { status } = await ask(dialect, JSON.stringify(value))
        return status === 200 || status === 400
      }),
      { numRuns: 300 },
    )
  })
})

it('an event is made when the reader asks for it, and none after the reader left', async () => {
  const made: number[] = []
  function* frames(): Generator<Uint8Array> {
    for (let index = 0; index < 100; index += 1) {
      made.push(index)
      yield Buffer.from(`data: ${index}\n\n`)
    }
  }
  const chunks = streamed(callOf('chat', {}), frames(), 0, 'req_1').chunks[Symbol.asyncIterator]()
  expect(made).toEqual([])
  await chunks.next()
  await chunks.next()
  expect(made).toEqual([0, 1])
  await chunks.return?.()
  expect(await chunks.next()).toMatchObject({ done: true })
  expect(made).toEqual([0, 1])
})
