/** An upstream that does not answer, or answers invalidly: always a 502 with the cause, never a 500 or a record. */
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { UPSTREAM_HEADER_BYTES_MAX, UPSTREAM_HEADERS_MAX } from '../../src/contract/index.ts'
import { openStream, sendAndListen } from '../support/client.ts'
import { recordsOf, responsesOf } from '../support/kept.ts'
import { freePort } from '../support/listen.ts'
import { until } from '../support/wait.ts'
import { startWire, type Wire } from '../support/wire.ts'
import { world, type World } from '../support/world.ts'

const ROUTES = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/messages/count_tokens']

let wire: Wire
let here: World
let scenarios = 0
let scenario = ''
beforeAll(async () => {
  wire = await startWire()
  here = await world({ settings: { 'inference.upstream_url': wire.url, 'inference.timeout_s': 0.2 } })
})
beforeEach(() => {
  scenario = `broken-${++scenarios}`
})
afterAll(async () => {
  await here.close()
  await wire.close()
})

/** What each route answers, all of them alike. */
async function expectRefused(code: string, body: object = {}): Promise<void> {
  const answers = await Promise.all(ROUTES.map((path) => here.post(path, body, { 'x-svc-scenario': scenario })))
  for (const [index, { status, json: said }] of answers.entries()) {
    expect(status).toBe(502)
    if (ROUTES[index]?.startsWith('/v1/messages') === true) expect(said).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    else expect(said).toMatchObject({ error: { type: 'api_error', code } })
  }
  expect(await recordsOf(here, scenario)).toEqual([])
  expect(here.log.filter(({ event }) => event === 'failure')).toEqual([])
}

const http = (headers: readonly string[], body: string | Buffer, status = '200 OK'): Buffer =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${headers.join('\r\n')}\r\n\r\n`), Buffer.from(body)])
const json = (body: string): Buffer => http(['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`], body)
const sends =
  (bytes: Buffer, then: 'stay' | 'end' | 'reset' = 'stay') =>
  (socket: Socket): void => {
    socket.write(bytes, () => {
      if (then === 'end') socket.end()
      if (then === 'reset') socket.resetAndDestroy()
    })
  }

describe('an upstream that cannot be asked', () => {
  it.each<[string, () => string | Promise<string>]>([
    ['nothing listens there', async () => `http://127.0.0.1:${await freePort()}`],
    ['it speaks no TLS', () => wire.url.replace('http:', 'https:')],
    ['its name is not known', () => 'http://nowhere.invalid'],
  ])('because %s is a 502 [decisions.errors-upstream-502]', async (_, address) => {
    wire.answer(sends(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'end'))
    await here.restart({ 'inference.upstream_url': await address() })
    await expectRefused('upstream_unreachable')
    await here.restart({ 'inference.upstream_url': wire.url })
  })
})

const manyHeaders = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `x-${at}: 1`)
const sameHeaders = (count: number): readonly string[] => manyHeaders(count).map(() => 'a: 1')

const BROKEN: readonly (readonly [string, (socket: Socket) => void, string])[] = [
  ['closes before it answers', (socket) => socket.end(), 'upstream_unreachable'],
  ['resets the connection', (socket) => socket.resetAndDestroy(), 'upstream_unreachable'],
  ['never answers', () => undefined, 'upstream_timeout'],
  ['sends its headers and then nothing', sends(http(['content-length: 10'], '')), 'upstream_timeout'],
  ['sends half of its answer and then nothing', sends(http(['content-length: 10'], '{"a"')), 'upstream_timeout'],
  ['speaks no HTTP', sends(Buffer.from('220 ready\r\n'), 'end'), 'upstream_unreachable'],
  ['announces more than it sends', sends(http(['content-length: 100'], '{}'), 'end'), 'upstream_unreachable'],
  ['announces less than it sends', sends(http(['content-length: 3'], '{"a":1}'), 'end'), 'upstream_not_json'],
  ['resets in the middle of its answer', sends(http(['content-length: 100'], '{'), 'reset'), 'upstream_unreachable'],
  ['breaks its chunks', sends(http(['transfer-encoding: chunked'], 'zz\r\n{}'), 'end'), 'upstream_unreachable'],
  ['sends no JSON', sends(json('hello')), 'upstream_not_json'],
  ['sends JSON that is cut', sends(json('{"id":')), 'upstream_not_json'],
  ['sends JSON that is no object', sends(json('[1]')), 'upstream_not_json'],
  ['sends null', sends(json('null')), 'upstream_not_json'],
  ['sends nothing', sends(json('')), 'upstream_not_json'],
  ['says 204', sends(http([], '', '204 No Content')), 'upstream_not_json'],
  ['begins with a byte order mark', sends(json('\ufeff{}')), 'upstream_not_json'],
  ['says no more than half of a status', sends(Buffer.from('HTTP/1.1 10'), 'end'), 'upstream_unreachable'],
  ['sends a huge header', sends(http([`x: ${'x'.repeat(UPSTREAM_HEADER_BYTES_MAX)}`, 'content-length: 2'], '{}')), 'answer_too_large'],
  ['sends very many headers', sends(http([...manyHeaders(UPSTREAM_HEADERS_MAX), 'content-length: 2'], '{}')), 'answer_too_large'],
  [
    'sends very many headers of one name',
    sends(http([...sameHeaders(UPSTREAM_HEADERS_MAX), 'content-length: 2'], '{}')),
    'answer_too_large',
  ],
  ['sends nothing but informational answers', sends(Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(2000))), 'upstream_unreachable'],
  [
    'sends an informational answer without end',
    sends(Buffer.from(`HTTP/1.1 103 Hints\r\nx: ${'x'.repeat(50_000)}`)),
    'upstream_unreachable',
  ],
]

describe('an upstream that', () => {
  it.each(BROKEN)('%s is a 502 with its own code [decisions.errors-upstream-502] [errors.502]', async (_what, act, code) => {
    wire.answer(act)
    await expectRefused(code)
  })

  it.each(['gzip', 'br', 'zstd'])('compresses with %s what it was asked to send as it is, is a 502', async (encoding) => {
    const body = gzipSync('{"id":"x"}')
    wire.answer(sends(http([`content-encoding: ${encoding}`, `content-length: ${body.length}`, 'content-type: application/json'], body)))
    await expectRefused('upstream_encoded')
    wire.answer(sends(http([`content-encoding: ${encoding}`, 'content-type: text/event-stream', 'connection: close'], body), 'end'))
    await expectRefused('upstream_encoded', { stream: true })
  })

  it.each(['', 'Identity'])('names its encoding %j is answered: that is none', async (encoding) => {
    wire.answer(sends(http([`content-encoding: ${encoding}`, 'content-length: 10'], '{"id":"x"}')))
    const answer = await here.post('/v1/chat/completions', {}, { 'x-svc-scenario': scenario })
    expect([answer.status, answer.text]).toEqual([200, '{"id":"x"}'])
  })

  it('compresses a refusal keeps its status and its retry headers', async () => {
    const body = gzipSync('{"error":{"message":"slow down"}}')
    wire.answer(sends(http(['content-encoding: gzip', `content-length: ${body.length}`, 'retry-after: 4'], body, '429 Too Many Requests')))
    expect(await here.post('/v1/chat/completions', {}, { 'x-svc-scenario': scenario })).toMatchObject({
      status: 429,
      headers: { 'retry-after': '4' },
      json: { error: { code: 'upstream_encoded' } },
    })
  })

  it('streams the answer to a token count is a 502, and is let go of', async () => {
    wire.answer(sends(http(['content-type: text/event-stream'], 'data: {}\n\n')))
    const { status, json: said } = await here.post('/v1/messages/count_tokens', {}, { 'x-svc-scenario': scenario })
    expect([status, said]).toMatchObject([502, { error: { message: 'the upstream streamed an answer that is never streamed' } }])
    expect(await recordsOf(here, scenario)).toEqual([])
    await until(() => wire.open === 0)
  })

  it('spells its stream in capitals is a stream all the same', async () => {
    wire.answer(sends(http(['Content-Type: Text/Event-Stream; charset=utf-8', 'connection: close'], 'data: [DONE]\n\n'), 'end'))
    const answer = await here.post('/v1/chat/completions', { stream: true }, { 'x-svc-scenario': scenario })
    expect(answer.text).toContain('"svc.agent_record_id"')
  })

  it.each(['201 Created', '206 Partial Content'])('streams with %s is passed on and kept as with 200', async (status) => {
    wire.answer(sends(http(['content-type: text/event-stream', 'connection: close'], 'data: [DONE]\n\n', status), 'end'))
    const answer = await here.post('/v1/chat/completions', { stream: true }, { 'x-svc-scenario': scenario })
    expect([answer.status, answer.headers['content-type']]).toEqual([Number.parseInt(status, 10), 'text/event-stream'])
    expect(answer.text).toContain('"svc.agent_record_id"')
    expect(await responsesOf(here, scenario)).toMatchObject([{ stream: true, complete: true }])
  })

  it.each([
    ['103 Early Hints\r\nlink: </x>'],
    ['100 Continue'],
    ['100 Continue', '102 Processing', '103 Early Hints\r\nlink: </x>', '100 Continue'],
  ])('sends %s before its answer unasked is answered, in chunks of any size', async (...heads) => {
    const bytes = Buffer.concat([...heads.map((head) => Buffer.from(`HTTP/1.1 ${head}\r\n\r\n`)), json('{"id":"x"}')])
    for (const cut of [0, 1, 11, 12, bytes.indexOf('\r\n\r\n') + 3, bytes.lastIndexOf('HTTP')]) {
      wire.answer((socket) => socket.write(bytes.subarray(0, cut), () => setImmediate(() => socket.write(bytes.subarray(cut)))))
      const answer = await here.post('/v1/chat/completions', {}, { 'x-svc-scenario': scenario })
      expect([answer.status, answer.text]).toEqual([200, '{"id":"x"}'])
    }
  })

  it('sends as many headers as an answer may have is answered', async () => {
    wire.answer(sends(http([...manyHeaders(UPSTREAM_HEADERS_MAX - 1), 'content-length: 10'], '{"id":"x"}')))
    expect((await here.post('/v1/chat/completions', {}, { 'x-svc-scenario': scenario })).status).toBe(200)
  })

  it('falls silent in the middle of a stream is cut off and kept with that cause [decisions.streams-broken]', async () => {
    wire.answer(sends(http(['content-type: text/event-stream'], 'data: {"id":"x","choices":[]}\n\n')))
    const stream = await openStream(here.address, '/v1/chat/completions', { stream: true }, { 'x-svc-scenario': scenario })
    expect(await stream.over).toBe('cut')
    await until(async () => (await recordsOf(here, scenario)).length === 1)
    expect(await responsesOf(here, scenario)).toMatchObject([
      { id: 'x', complete: false, cause: `the upstream at ${wire.url} did not answer in time; try again later` },
    ])
  })
})

it('a client that leaves while the upstream is not even connected is let go of at once', async () => {
  // A handshake that never ends: the connection is open, but no request can be sent on it.
  wire.answer(() => undefined)
  await here.restart({
    'inference.upstream_url': wire.url.replace('http:', 'https:'),
    'inference.timeout_s': 600,
    'svc.max_loaded_scenarios': 1,
  })
  const sent = sendAndListen(here.address, '/v1/chat/completions', {}, { 'x-svc-scenario': scenario })
  await until(() => wire.open === 1)
  sent.drop()
  // The only slot for a loaded scenario is free again when no request uses it.
  await until(async () => (await here.post('/svc/scenarios', { name: `${scenario}-next` })).status < 300)
  expect(here.log.filter(({ event }) => event === 'failure')).toEqual([])
})
