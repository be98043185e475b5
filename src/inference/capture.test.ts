/** An answer whose tokens were seen: verified before any of it is sent, its numbers kept and never sent. */
import { describe, expect, it } from 'vitest'
import { conflict, type Capture, type InferenceHooks, type JsonObject, type Release, type RuntimeAnswer } from '../contract/index.ts'
import { serveStream } from './serve-stream.ts'
import { serve } from './serve.ts'
import { callOf, releaseOf, servingOf } from './testing/scenario.ts'

const [first, second] = [releaseOf('r1'), releaseOf('r2')]
const capture: Capture = { prompt: [1], tokens: [2, 3], logProbs: [-1, -2], spans: [{ start: 0, end: 2, adapter: null }] }
const call = callOf()

function scripted(answer: RuntimeAnswer, hooks: InferenceHooks, heads: readonly Release[] = [first]) {
  let looked = 0
  const head = (): Release => heads[Math.min(looked++, heads.length - 1)] ?? first
  const served = servingOf(() => Promise.resolve(answer), { surface: { hooks }, head })
  const responseOf = (): JsonObject => JSON.parse(Buffer.from(served.records[0]?.payload ?? '{}').toString()).response
  return { ...served, responseOf }
}

const refuse = (): never => {
  throw conflict('spans_do_not_add_up', 'the spans do not add up')
}

function counting() {
  const held = { count: 0 }
  const begin: InferenceHooks['begin'] = () => {
    held.count += 1
    return Promise.resolve(() => void (held.count -= 1))
  }
  return { held, begin }
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
  it.each([
    ['whole', whole],
    ['streamed', streamed()],
  ])('%s is refused before any of it is sent, is not kept, and releases what it held [inference.rule-3]', async (_kind, answer) => {
    const { held, begin } = counting()
    const { scenario, records } = scripted(answer, { verify: refuse, begin })
    await expect(serve(scenario, call)).rejects.toMatchObject({ kind: 'conflict', code: 'spans_do_not_add_up' })
    expect(records).toEqual([])
    expect(held.count).toBe(0)
  })
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
    const { held, begin } = counting()
    await expect(serve(scripted(whole, { begin, prepare: refuse }).scenario, call)).rejects.toMatchObject({ code: 'spans_do_not_add_up' })
    expect(held.count).toBe(0)
  })
})
