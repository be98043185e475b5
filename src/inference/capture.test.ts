/** An answer whose tokens were seen: verified before anyone hears of it, its numbers kept and never sent. */
import { describe, expect, it } from 'vitest'
import {
  conflict,
  type Capture,
  type InferenceHooks,
  type JsonObject,
  type NewRecord,
  type Release,
  type RuntimeAnswer,
} from '../contract/index.ts'
import { serveStream } from './serve-stream.ts'
import { serve, type Call, type Serving } from './serve.ts'
import { parsedBody } from './request-body.ts'

const first: Release = { release_id: 'r1', parent_release_id: null, content_id: 'c1' }
const second: Release = { ...first, release_id: 'r2' }
const capture: Capture = { prompt: [1], tokens: [2, 3], logProbs: [-1, -2], spans: [{ start: 0, end: 2, adapter: null }] }
const notAsked = (): Promise<never> => Promise.reject(new Error('not asked in this test'))

/** What a scenario of weights keeps, sends and lets go of. */
function scripted(answer: RuntimeAnswer, hooks: InferenceHooks, heads: readonly Release[] = [first]) {
  const records: NewRecord[] = []
  const asked: string[] = []
  let looked = 0
  const scenario: Serving = {
    runtime: {
      infer: ({ release }) => {
        asked.push(release.release_id)
        return Promise.resolve(answer)
      },
      models: notAsked,
      status: notAsked,
      close: notAsked,
    },
    surface: { hooks },
    model: { url: '', model: null, api: 'openai', apiKey: null },
    head: () => heads[Math.min(looked++, heads.length - 1)] ?? first,
    hasRelease: () => true,
    keep: (record) => Promise.resolve(records.push(record)),
  }
  const responseOf = (): JsonObject => JSON.parse(Buffer.from(records[0]?.payload ?? '{}').toString()).response
  return { scenario, records, asked, responseOf }
}

const call: Call = {
  id: 'receipt-1',
  dialect: 'chat',
  path: '/v1/chat/completions',
  headers: {},
  request: parsedBody(Buffer.from('{}'), {}, {}),
  tags: {},
  signal: new AbortController().signal,
  retryTimeoutSeconds: 0,
  answerBytesMax: 1e9,
  clock: () => 0,
  begunAt: 0,
}

const whole: RuntimeAnswer = { kind: 'whole', status: 200, headers: {}, body: Buffer.from('{"id":"a"}'), capture }
const frames = ['data: {"id":"a","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n', 'data: [DONE]\n\n']
async function* chunks(): AsyncGenerator<Uint8Array> {
  for (const frame of frames) yield Buffer.from(frame)
}
const streamed = (): RuntimeAnswer => ({
  kind: 'stream',
  status: 200,
  headers: {},
  chunks: chunks(),
  whole: { answer: { id: 'a' }, capture },
})

describe('what a hook keeps of the tokens', () => {
  it('is in the record of a whole answer, and not in what is sent', async () => {
    const { scenario, responseOf } = scripted(whole, { verify: (_release, _dialect, _answer, seen) => ({ tokens: seen?.tokens ?? [] }) })
    const served = await serve(scenario, call)
    if (served.kind !== 'whole') throw new Error('it is whole')
    expect(Buffer.from(served.answer.body).toString()).toBe('{"id":"a"}')
    expect(responseOf()).toEqual({ id: 'a', training: { tokens: [2, 3] } })
  })

  it('is in the record of a stream that was whole before its first event, and in none of its frames [inference.rule-6]', async () => {
    const { scenario, responseOf } = scripted(streamed(), { verify: () => ({ tokens: [2, 3] }) })
    const served = await serve(scenario, call)
    if (served.kind !== 'stream') throw new Error('it is streamed')
    const sent: Buffer[] = []
    await serveStream(
      served,
      { write: (bytes) => void sent.push(bytes), end: (bytes) => void sent.push(bytes), cut: () => undefined },
      false,
    )
    expect(Buffer.concat(sent).toString()).not.toContain('training')
    expect(responseOf()).toMatchObject({ training: { tokens: [2, 3] }, stream: true, complete: true })
  })
})

describe('an answer that does not add up', () => {
  const refusing: InferenceHooks = {
    verify: () => {
      throw conflict('spans_do_not_add_up', 'the spans do not add up')
    },
  }
  it.each([
    ['whole', whole],
    ['streamed', streamed()],
  ])(
    '%s is refused before anyone sees any of it, kept by nobody, and what it held is let go of [inference.rule-3]',
    async (_kind, answer) => {
      let held = 0
      const hooks: InferenceHooks = {
        ...refusing,
        begin: () => {
          held += 1
          return Promise.resolve(() => void (held -= 1))
        },
      }
      const { scenario, records } = scripted(answer, hooks)
      await expect(serve(scenario, call)).rejects.toMatchObject({ kind: 'conflict', code: 'spans_do_not_add_up' })
      expect(records).toEqual([])
      expect(held).toBe(0)
    },
  )
})

describe('a call that waited to be admitted', () => {
  it('is built against the head it finds, and lets go of what it held for the old one', async () => {
    const held: string[] = []
    const hooks: InferenceHooks = {
      begin: ({ release_id }) => {
        held.push(`hold ${release_id}`)
        return Promise.resolve(() => void held.push(`let go of ${release_id}`))
      },
    }
    const { scenario, asked } = scripted(whole, hooks, [first, second])
    await serve(scenario, call)
    expect(held).toEqual(['hold r1', 'let go of r1', 'hold r2', 'let go of r2'])
    expect(asked).toEqual(['r2'])
  })

  it('lets go of what it held when its body is refused', async () => {
    let held = 0
    const hooks: InferenceHooks = {
      begin: () => {
        held += 1
        return Promise.resolve(() => void (held -= 1))
      },
      prepare: () => {
        throw conflict('no', 'no')
      },
    }
    await expect(serve(scripted(whole, hooks).scenario, call)).rejects.toMatchObject({ code: 'no' })
    expect(held).toBe(0)
  })
})
