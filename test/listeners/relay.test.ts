/** What a listener thread relays is answered as if the client had spoken to the main thread, byte for byte. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { connectTo, openStream } from '../support/client.ts'
import { data, DONE } from '../support/frames.ts'
import { beginFrames, answerPlainly } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { sharedWorld, type World } from '../support/world.ts'

const alone = sharedWorld({ backend: 'sqlite', settings: { 'svc.listeners': 1 } })
const relayed = sharedWorld({ backend: 'sqlite', settings: { 'svc.listeners': 2 } })

/** Everything that comes back until the connection is closed. */
async function answered({ address }: World, pieces: readonly string[]): Promise<string> {
  const socket = connectTo(address)
  const closed = once(socket, 'close')
  let text = ''
  socket.on('data', (part) => (text += part.toString('latin1')))
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    await sleep(20)
  }
  await closed
  return plain(text)
}

/** Without what differs between any two answers. */
const plain = (text: string): string =>
  text
    .replaceAll(/^date: .*\r\n/gim, '')
    .replaceAll(/\b[0-9a-f]{32}\b/g, 'ID')
    .replaceAll(/\b[0-9a-f]{40}\b/g, 'OBJECT')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/"(?:created_at|recorded_at|latency_ms)":[\d.]+/g, '"AT":0')

const END = 'Connection: close\r\n\r\n'
const JSON_POST = 'Host: x\r\nContent-Type: application/json\r\n'
const CASES: Readonly<Record<string, readonly string[]>> = {
  'a read': [`GET /healthz HTTP/1.1\r\nHost: x\r\n${END}`],
  'a head': [`HEAD /openapi.json HTTP/1.1\r\nHost: x\r\n${END}`],
  'a request of HTTP/1.0': ['GET /healthz HTTP/1.0\r\n\r\n'],
  'a request of HTTP/1.0 that keeps its connection': [
    'GET /healthz HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n',
    `GET /nope HTTP/1.0\r\n\r\n`,
  ],
  'pipelined requests': [
    `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /nope HTTP/1.1\r\nHost: x\r\n\r\nGET /svc/scenarios HTTP/1.1\r\nHost: x\r\n${END}`,
  ],
  'an unknown method': [`PUT /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n${END}{}`],
  'a missing host': [`GET /svc/scenarios HTTP/1.1\r\n${END}`],
  'a body in chunks, with trailers': [
    `POST /svc/scenarios HTTP/1.1\r\n${JSON_POST}Transfer-Encoding: chunked\r\nTrailer: x-late\r\n${END}5\r\n{"nam\r\n`,
    'b\r\ne":"chunky"}\r\n0\r\nx-late: 1\r\n\r\n',
  ],
  'a body that waits to be asked for': [
    `POST /svc/scenarios HTTP/1.1\r\n${JSON_POST}Expect: 100-continue\r\nContent-Length: 14\r\n${END}`,
    '{"name":"waited"}'.slice(0, 14),
  ],
  'an unknown expectation': [`GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: a miracle\r\n${END}`],
  'an empty body': [`POST /svc/scenarios HTTP/1.1\r\n${JSON_POST}${END}`],
  'a header of other letters': [`GET /svc/scenarios/n%C3%B6/records HTTP/1.1\r\nHost: x\r\nX-Svc-Scenario: n\u00c3\u00b6\r\n${END}`],
  'a chosen receipt of other letters': [
    `POST /v1/chat/completions HTTP/1.1\r\n${JSON_POST}X-Svc-Scenario: a\r\nX-Svc-Agent-Record-Id: r\u00c3\u00a9\u00e2\u0082\u00ac\r\nContent-Length: 27\r\n${END}{"model":"m","messages":[]}`,
  ],
  'an upgrade': [`GET /v1/responses HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade, close\r\n\r\n`],
  'no HTTP': ['HELLO\r\n\r\n'],
}

describe('relayed as it came', () => {
  it.each(Object.keys(CASES))('%s', async (name) => {
    const pieces = CASES[name] ?? []
    const expected = await answered(alone, pieces)
    expect(expected).toMatch(/^HTTP\/1\.1 \d{3} /)
    expect(await answered(relayed, pieces)).toBe(expected)
  })
})

const STREAM = { model: 'm', messages: [], stream: true }
/** A receipt that the client chose is a matter of the main thread. */
const chosen = (id: string): Readonly<Record<string, string>> => ({ 'x-svc-scenario': 'streamed', 'x-svc-agent-record-id': id })

describe('a relayed stream', () => {
  it('waits for a slow reader, and arrives whole', async () => {
    const FRAMES = 400
    const text = 'x'.repeat(20_000)
    relayed.upstream.answer((_, response) => {
      const frames = Array.from({ length: FRAMES }, () => data({ choices: [{ index: 0, delta: { content: text } }] }))
      beginFrames(response, [...frames, data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }), DONE]).end()
    })
    const socket = connectTo(relayed.address)
    const body = JSON.stringify(STREAM)
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-Svc-Scenario: streamed\r\nX-Svc-Agent-Record-Id: slow\r\nContent-Length: ${body.length}\r\n${END}${body}`,
    )
    let bytes = 0
    let last = ''
    for await (const part of socket) {
      bytes += Buffer.from(part).length
      last = `${last}${Buffer.from(part).toString()}`.slice(-200)
      if (bytes < 1_000_000) await sleep(1)
    }
    expect(bytes).toBeGreaterThan(FRAMES * text.length)
    expect(last).toContain('[DONE]')
  })

  it('whose client leaves is cancelled upstream', async () => {
    relayed.upstream.answer((_, response) => void beginFrames(response, [data({ choices: [] })]))
    const before = relayed.upstream.cancelled
    const stream = await openStream(relayed.address, '/v1/chat/completions', STREAM, chosen('left'))
    await stream.seen('data: ')
    stream.drop()
    await until(() => relayed.upstream.cancelled === before + 1)
    relayed.upstream.answer(answerPlainly)
  })

  it('that the upstream cuts is cut for the client too', async () => {
    relayed.upstream.answer((_, response) => {
      beginFrames(response, [data({ choices: [] })])
      setTimeout(() => response.destroy(), 20)
    })
    const stream = await openStream(relayed.address, '/v1/chat/completions', STREAM, chosen('cut'))
    expect(await stream.over).toBe('cut')
    relayed.upstream.answer(answerPlainly)
  })
})
