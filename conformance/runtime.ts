/** Conformance suite for runtimes, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { isObject } from '../src/contract/index.ts'
import type { Json, JsonObject, ModelAddress, Runtime, RuntimeAnswer, RuntimeCall, StreamedAnswer } from '../src/contract/index.ts'
import { never, type Runner } from './support.ts'

export interface RuntimeSuite extends Runner {
  /** A new runtime, ready to answer. */
  readonly make: () => RuntimeMade | Promise<RuntimeMade>
}

export interface RuntimeMade {
  readonly runtime: Runtime
  /** Where calls go. Its key must not be in the status. */
  readonly model: ModelAddress
  /** Stops what was started beside the runtime. */
  stop?(): Promise<void>
}

/** How long a call may run after an abort. */
const GIVE_UP_MS_MAX = 100

interface Format {
  readonly path: string
  readonly body: JsonObject
  /** Fields that identify a whole answer. */
  readonly mark: JsonObject
  /** Matches the end of a stream. */
  readonly end: RegExp
}

const QUESTION = 'Please count slowly from one to five in words.'
const MESSAGES = [{ role: 'user', content: QUESTION }]

const FORMATS: Readonly<Record<(typeof DIALECTS)[number], Format>> = {
  chat: { path: '/v1/chat/completions', body: { messages: MESSAGES }, mark: { object: 'chat.completion' }, end: /^data: \[DONE\]/m },
  responses: {
    path: '/v1/responses',
    body: { input: QUESTION },
    mark: { object: 'response' },
    end: /^event: response\.(?:completed|incomplete)/m,
  },
  messages: {
    path: '/v1/messages',
    body: { messages: MESSAGES, max_tokens: 1000 },
    mark: { type: 'message' },
    end: /^event: message_stop/m,
  },
}
const DIALECTS = ['chat', 'responses', 'messages'] as const

export function runtimeConformance(suite: RuntimeSuite): void {
  const { describe } = suite
  describe('answers', () => describeAnswers(suite))
  describe('giving up', () => describeGivingUp(suite))
  describe('what it reports', () => describeStatus(suite))
}

function describeAnswers(suite: RuntimeSuite): void {
  const test = over(suite)
  for (const dialect of DIALECTS) {
    test(`${dialect}: a call is answered whole, in its own format and under the model it named`, async ({ runtime, model }) => {
      const answer = objectOf(await runtime.infer(callOf(dialect, model, { stream: false })))
      for (const [field, value] of Object.entries(FORMATS[dialect].mark)) assert.equal(answer[field], value)
      assert.equal(typeof answer['id'], 'string')
      assert.equal(answer['model'], model.model ?? 'some-model')
      assert.equal(typeof answer['usage'], 'object')
    })
    test(`${dialect}: a call is answered as a stream that ends as its format ends`, async ({ runtime, model }) => {
      const answer = streamOf(await runtime.infer(callOf(dialect, model, { stream: true })))
      assert.match(answer.headers['content-type'] ?? '', /^text\/event-stream/)
      assert.match(await text(answer.chunks), FORMATS[dialect].end)
    })
    test(`${dialect}: a refusal of the model is an answer and says why`, async ({ runtime, model }) => {
      const call = { ...callOf(dialect, model, {}), body: Buffer.from('{}') }
      const answer = await runtime.infer({ ...call, model: { ...model, model: null } })
      assert.ok(answer.kind === 'whole' && answer.status >= 400, 'a refusal is a whole answer with an error status')
      assert.equal(typeof parsed(answer.body)['error'], 'object')
    })
  }
  test('two calls at once do not mix', async ({ runtime, model }) => {
    const streams = await Promise.all(DIALECTS.map((dialect) => runtime.infer(callOf(dialect, model, { stream: true }))))
    const texts = await Promise.all(streams.map((answer) => text(streamOf(answer).chunks)))
    for (const [at, dialect] of DIALECTS.entries()) assert.match(texts[at] ?? '', FORMATS[dialect].end)
  })
}

function describeGivingUp(suite: RuntimeSuite): void {
  const test = over(suite)
  for (const dialect of DIALECTS) {
    test(`${dialect}: after an abort no chunk follows`, async ({ runtime, model }) => {
      const controller = new AbortController()
      const answer = streamOf(await runtime.infer(callOf(dialect, model, { stream: true }, controller.signal)))
      const chunks = answer.chunks[Symbol.asyncIterator]()
      assert.equal((await chunks.next()).done, false)
      controller.abort()
      const began = performance.now()
      await assertEnded(chunks)
      assert.ok(performance.now() - began < GIVE_UP_MS_MAX)
    })
  }
  test('a call that was aborted before it began is not answered', async ({ runtime, model }) => {
    await assert.rejects(runtime.infer(callOf('chat', model, {}, AbortSignal.abort())))
  })
  test('leaving a stream early is no failure, and the next call is answered', async ({ runtime, model }) => {
    for await (const chunk of streamOf(await runtime.infer(callOf('chat', model, { stream: true }))).chunks) {
      assert.ok(chunk.length > 0)
      break
    }
    objectOf(await runtime.infer(callOf('chat', model, {})))
  })
}

/** An aborted stream throws or ends, after at most one more chunk. */
async function assertEnded(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  const next = async (): Promise<boolean> => {
    try {
      return (await chunks.next()).done === true
    } catch {
      return true
    }
  }
  assert.ok((await next()) || (await next()), 'an aborted stream goes on')
}

function describeStatus(suite: RuntimeSuite): void {
  const test = over(suite)
  test('the status never holds the key', async ({ runtime, model }) => {
    const status = JSON.stringify(await runtime.status())
    assert.equal(status.startsWith('{'), true)
    if (model.apiKey !== null) assert.ok(!status.includes(model.apiKey), 'the status shows the key')
  })
  test('the models are a list', async ({ runtime, model }) => {
    const { dialect: _dialect, body: _body, ...call } = callOf('chat', model, {})
    const answer = await runtime.models({ ...call, path: '/v1/models' })
    assert.equal(answer.status, 200)
    assert.ok(Array.isArray(parsed(answer.body)['data']))
  })
}

function over({ it, make }: RuntimeSuite): (name: string, body: (made: RuntimeMade) => Promise<void>) => void {
  return (name, body) => {
    it(name, async () => {
      const made = await make()
      try {
        await body(made)
      } finally {
        await made.runtime.close()
        await made.stop?.()
      }
    })
  }
}

function callOf(dialect: keyof typeof FORMATS, model: ModelAddress, fields: JsonObject, signal = never()): RuntimeCall {
  const { path, body } = FORMATS[dialect]
  return {
    dialect,
    path,
    headers: {},
    body: Buffer.from(JSON.stringify({ model: model.model ?? 'some-model', ...body, ...fields })),
    model,
    purpose: 'traffic',
    release: { release_id: 'r1', parent_release_id: null, content_id: 'c1' },
    signal,
  }
}

function streamOf(answer: RuntimeAnswer): StreamedAnswer {
  if (answer.kind !== 'stream') assert.fail(`expected a stream, got ${answer.kind}`)
  assert.equal(answer.status, 200)
  return answer
}

function objectOf(answer: RuntimeAnswer): JsonObject {
  if (answer.kind !== 'whole') assert.fail(`expected a whole answer, got ${answer.kind}`)
  assert.equal(answer.status, 200)
  return parsed(answer.body)
}

function parsed(body: Uint8Array): JsonObject {
  const value: Json = JSON.parse(Buffer.from(body).toString())
  if (!isObject(value)) assert.fail('expected a JSON object')
  return value
}
