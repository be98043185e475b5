import { describe, expect, it, onTestFinished } from 'vitest'
import { runtimeConformance } from '../../../conformance/runtime.ts'
import { answerPlainly, chatFrames, sendJson, startUpstream, type Upstream } from '../../../test/support/upstream.ts'
import { until } from '../../../test/support/wait.ts'
import { startWire } from '../../../test/support/wire.ts'
import { isObject, type ModelAddress, type Runtime, type RuntimeCall } from '../../../src/contract/index.ts'
import provider from './index.ts'

const KEY = 'sk-the-upstream-key'
const address = (url: string): ModelAddress => ({ url, model: 'm', api: 'openai', apiKey: KEY })

/** An upstream that refuses an empty body, as providers do, and otherwise says how much it used. */
async function startProvider(): Promise<Upstream> {
  const upstream = await startUpstream()
  upstream.answer((received, response) => {
    const body = received.body.toString()
    if (body === '{}') sendJson(response, 400, { error: { message: 'messages: required' } })
    else if (received.url === '/v1/responses' && !body.includes('"stream":true'))
      sendJson(response, 200, { id: 'resp_1', object: 'response', model: 'm', output: [], usage: { total_tokens: 2 } })
    else answerPlainly(received, response)
  })
  return upstream
}

runtimeConformance({
  describe,
  it,
  make: async () => {
    const upstream = await startProvider()
    return { runtime: await provider.plugin.make({}), model: address(upstream.url), stop: () => upstream.close() }
  },
})

function callOf(url: string, signal: AbortSignal): RuntimeCall {
  return {
    dialect: 'chat',
    path: '/v1/chat/completions',
    headers: {},
    body: Buffer.from('{"stream":true}'),
    model: address(url),
    purpose: 'traffic',
    release: { release_id: 'r1', parent_release_id: null, content_id: 'c1' },
    signal,
  }
}

/** A runtime and an upstream until the test ends. */
async function open<T extends { close(): Promise<void> }>(start: () => Promise<T>) {
  const upstream = await start()
  const runtime: Runtime = await provider.plugin.make({ timeout_s: 600 })
  onTestFinished(async () => {
    await runtime.close()
    await upstream.close()
  })
  return { upstream, runtime }
}

async function streamOf(runtime: Runtime, url: string): Promise<AsyncIterable<Uint8Array>> {
  const answer = await runtime.infer(callOf(url, new AbortController().signal))
  if (answer.kind !== 'stream') throw new Error('a stream was requested')
  return answer.chunks
}

describe('a call that is aborted', () => {
  it.each([
    ['before its connection is made', new AbortController()],
    ['before it began', null],
  ])('%s ends at once', async (_when, controller) => {
    // The other side accepts the connection and never answers the TLS handshake.
    const { upstream: wire, runtime } = await open(startWire)
    wire.answer(() => undefined)
    const asked = runtime.infer(callOf(wire.url.replace('http:', 'https:'), controller?.signal ?? AbortSignal.abort()))
    if (controller !== null) await until(() => wire.open === 1)
    controller?.abort()
    await expect(asked).rejects.toMatchObject({ kind: 'upstream', code: 'upstream_unreachable' })
  })

  it('by leaving its stream is cancelled upstream, and one read to its end is not', async () => {
    const { upstream, runtime } = await open(startUpstream)
    upstream.answer((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chatFrames[0])
    })
    for await (const chunk of await streamOf(runtime, upstream.url)) if (chunk.length > 0) break
    await until(() => upstream.cancelled === 1)
    upstream.answer(answerPlainly)
    for await (const chunk of await streamOf(runtime, upstream.url)) expect(chunk.length).toBeGreaterThan(0)
    expect(upstream.cancelled).toBe(1)
  })
})

describe('a stream that is read slowly', () => {
  it('is held back upstream, and arrives whole', async () => {
    const { upstream, runtime } = await open(startUpstream)
    const piece = Buffer.alloc(256 * 1024, 'x')
    const pieces = 64
    upstream.answer((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let sent = 0; sent < pieces; sent++) response.write(piece)
      response.end()
    })
    let bytes = 0
    for await (const chunk of await streamOf(runtime, upstream.url)) {
      bytes += chunk.length
      // Each chunk is read late, so that more waits than the runtime holds.
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(bytes).toBe(pieces * piece.length)
  })
})

describe('with more upstreams than it keeps connections to', () => {
  it('the least recently used is closed, and its running answers are finished', async () => {
    const { upstream, runtime } = await open(startUpstream)
    const { promise: gate, resolve: letAnswer } = Promise.withResolvers<void>()
    upstream.answer(async (received, response) => {
      if (received.url.startsWith('/slow')) await gate
      sendJson(response, 200, { url: received.url })
    })
    const ask = (name: string) => runtime.infer(callOf(`${upstream.url}/${name}`, new AbortController().signal))
    const kept = async (): Promise<readonly string[]> => {
      const { upstreams } = await runtime.status()
      const rows = Array.isArray(upstreams) ? upstreams.filter(isObject) : []
      return rows.flatMap(({ url = null }) => (typeof url === 'string' ? [url.slice(upstream.url.length + 1)] : []))
    }
    await ask('busy')
    const slow = ask('slow')
    await until(() => upstream.open === 1)
    for (let index = 0; index < 254; index += 1) await ask(`other-${index}`)
    await ask('busy')
    await ask('one-more')
    expect(await kept()).toHaveLength(256)
    expect(await kept()).toContain('busy')
    expect(await kept()).not.toContain('slow')
    letAnswer()
    expect(await slow).toMatchObject({ kind: 'whole', status: 200 })
  })
})

const callWith = (url: string, pieces: readonly Uint8Array[]): RuntimeCall => ({ ...callOf(url, new AbortController().signal), pieces })

describe('a body in pieces', () => {
  const PIECE = 64 * 1024
  const piecesOf = (count: number): readonly Uint8Array[] =>
    Array.from({ length: count }, (_, at) => Buffer.alloc(PIECE - at, 'abcdefgh'[at % 8]))

  it('arrives as one, with its length, and is known to have left once it is answered', async () => {
    const { upstream, runtime } = await open(startUpstream)
    upstream.answer((_received, response) => sendJson(response, 200, {}))
    const pieces = piecesOf(7)
    const answer = await runtime.infer(callWith(upstream.url, pieces))
    const received = upstream.received.at(-1)
    expect(received?.body.equals(Buffer.concat(pieces))).toBe(true)
    expect(received?.headers).toMatchObject({ 'content-length': String(Buffer.concat(pieces).length) })
    expect(received?.headers).not.toHaveProperty('transfer-encoding')
    if (answer.kind !== 'whole') throw new Error('a whole answer was sent')
    expect(answer.isBodySent?.()).toBe(true)
  })

  it('is not taken for sent where the upstream answers and reads no further', async () => {
    const { upstream: wire, runtime } = await open(startWire)
    wire.answer((socket) => {
      socket.pause()
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
    })
    for (const pieces of [piecesOf(400), [Buffer.alloc(400 * PIECE, 'a')]]) {
      const answer = await runtime.infer(callWith(wire.url, pieces))
      expect(answer).toMatchObject({ kind: 'whole', status: 200 })
      if (answer.kind === 'whole') expect(answer.isBodySent?.()).toBe(false)
    }
  })

  it('is given up where the caller leaves halfway', async () => {
    const { upstream: wire, runtime } = await open(startWire)
    wire.answer((socket) => socket.pause())
    const controller = new AbortController()
    const asked = runtime.infer({ ...callOf(wire.url, controller.signal), pieces: piecesOf(400) })
    await until(() => wire.open === 1)
    controller.abort()
    await expect(asked).rejects.toMatchObject({ code: 'upstream_unreachable' })
  })

  it('and a long answer, which is passed on in the pieces that it came in', async () => {
    const { upstream, runtime } = await open(startUpstream)
    const text = JSON.stringify({ text: 'é'.repeat(300_000) })
    upstream.answer((_received, response) => sendJson(response, 200, JSON.parse(text)))
    const answer = await runtime.infer(callWith(upstream.url, piecesOf(2)))
    if (answer.kind !== 'whole') throw new Error('a whole answer was sent')
    expect(answer.pieces?.length).toBeGreaterThan(1)
    expect(Buffer.concat(answer.pieces ?? []).toString()).toBe(text)
    expect(Buffer.from(answer.body).toString()).toBe(text)
  })
})
