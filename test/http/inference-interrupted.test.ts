/** Streams that end too early: what the client sees, and what is recorded. */
import { describe, expect, it } from 'vitest'
import { openStream } from '../support/client.ts'
import { data, DONE, named } from '../support/frames.ts'
import { responsesOf } from '../support/kept.ts'
import { answerPlainly, beginFrames, breakOffAfter, framesOf, sendFrames } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { sharedWorld } from '../support/world.ts'

const here = sharedWorld()

const PATHS = ['/v1/chat/completions', '/v1/responses', '/v1/messages']
let scenarios = 0
/** A scenario of its own for each test, so that its records are all there are. */
const fresh = (): { readonly name: string; readonly headers: Record<string, string> } => {
  const name = `interrupted-${++scenarios}`
  return { name, headers: { 'x-svc-scenario': name } }
}

describe.each(PATHS)('a stream of %s', (path) => {
  const frames = framesOf(path)
  const half = frames.slice(0, Math.ceil(frames.length / 2))

  it('that the upstream cuts is cut for the client and stored with the cause [decisions.streams-broken]', async () => {
    const { name, headers } = fresh()
    here.upstream.answer(breakOffAfter([...half, 'data: {"half']))
    const stream = await openStream(here.address, path, { stream: true }, headers)
    expect(await stream.over).toBe('cut')
    expect(half.join('').startsWith(stream.text)).toBe(true)
    await until(async () => (await responsesOf(here, name)).length > 0)
    const [response, ...others] = await responsesOf(here, name)
    expect(others).toEqual([])
    expect(response).toMatchObject({ stream: true, complete: false })
    expect(response?.['cause']).toMatch(/^the upstream at http:\/\/127\.0\.0\.1:\d+ could not be reached or broke off \(/)
  })

  it('cut at places all over it leaves one record each and never a failure of the service', async () => {
    const { name, headers } = fresh()
    const bytes = Buffer.from(frames.join(''))
    const places = Array.from({ length: 25 }, (_unused, index) => Math.floor((index * bytes.length) / 25))
    for (const place of places) {
      here.upstream.answer((_received, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
        response.write(bytes.subarray(0, place), () => response.destroy())
      })
      const stream = await openStream(here.address, path, { stream: true }, headers)
      expect(stream.status).toBe(200)
      expect(await stream.over).toBe('cut')
    }
    await until(async () => (await responsesOf(here, name)).length === places.length)
    expect(here.log.filter(({ event }) => event === 'failure')).toEqual([])
  })

  it('that ends without its last event ends for the client too, with no receipt, and is stored as incomplete [decisions.streams-broken]', async () => {
    const { name, headers } = fresh()
    here.upstream.answer((_received, response) => sendFrames(response, half))
    const answer = await here.post(path, { stream: true }, headers)
    expect(answer.text).toBe(half.join(''))
    expect(await responsesOf(here, name)).toMatchObject([
      { stream: true, complete: false, cause: 'the upstream ended the stream before its terminal event' },
    ])
  })

  it('whose client leaves is cancelled upstream and stored as far as it came [decisions.streams-broken] [decisions.streams-cancel]', async () => {
    const { name, headers } = fresh()
    const { cancelled } = here.upstream
    here.upstream.answer((_received, response) => void beginFrames(response, half))
    const stream = await openStream(here.address, path, { stream: true }, headers)
    await stream.seen(half.join(''))
    stream.drop()
    await until(() => here.upstream.cancelled > cancelled)
    await until(async () => (await responsesOf(here, name)).length > 0)
    expect(await responsesOf(here, name)).toMatchObject([{ stream: true, complete: false, cause: 'the client closed the connection' }])
    expect(here.upstream.open).toBe(0)
  })

  it('whose client leaves before the first frame is stored too', async () => {
    const { name, headers } = fresh()
    here.upstream.answer((_received, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders())
    const stream = await openStream(here.address, path, { stream: true }, headers)
    stream.drop()
    await until(async () => (await responsesOf(here, name)).length > 0)
    expect(await responsesOf(here, name)).toMatchObject([{ stream: true, complete: false, cause: 'the client closed the connection' }])
  })
})

const ERRORS = [
  { path: '/v1/chat/completions', event: data({ error: { message: 'overloaded', code: 529 } }), after: '' },
  { path: '/v1/chat/completions', event: data({ error: { message: 'overloaded', code: 529 } }), after: DONE },
  { path: '/v1/responses', event: named({ type: 'error', code: 'server_error', message: 'overloaded', param: null }), after: '' },
  { path: '/v1/messages', event: named({ type: 'error', error: { type: 'overloaded_error', message: 'overloaded' } }), after: '' },
]

describe('an error in the middle of a stream', () => {
  it.each(ERRORS)(
    'reaches the client as it came and is the cause the record holds: $path, then "$after" [decisions.streams-broken]',
    async ({ path, event, after }) => {
      const { name, headers } = fresh()
      const [first = ''] = framesOf(path)
      here.upstream.answer((_received, response) => sendFrames(response, [first, event, after]))
      const answer = await here.post(path, { stream: true }, headers)
      expect(answer.text.startsWith(first + event)).toBe(true)
      expect(answer.text.endsWith(after)).toBe(true)
      const [response] = await responsesOf(here, name)
      expect(response).toMatchObject({ stream: true, complete: false, cause: 'overloaded', error: { message: 'overloaded' } })
    },
  )

  it('does not hide a response that failed in order: its last event came [decisions.streams-terminal]', async () => {
    const { name, headers } = fresh()
    const failed = { id: 'resp_1', object: 'response', status: 'failed', error: { code: 'server_error', message: 'it broke' }, output: [] }
    here.upstream.answer((_received, response) => sendFrames(response, [named({ type: 'response.failed', response: failed })]))
    const answer = await here.post('/v1/responses', { stream: true }, headers)
    expect(answer.text).toContain('"svc.agent_record_id"')
    expect(await responsesOf(here, name)).toEqual([{ ...failed, stream: true, complete: true }])
    here.upstream.answer(answerPlainly)
  })
})
