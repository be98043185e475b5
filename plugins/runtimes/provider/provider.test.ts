import { describe, expect, it } from 'vitest'
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

describe('a call that is given up', () => {
  it('before its connection is made is over at once, and never asks', async () => {
    // The other side accepts the connection and never answers the handshake on it.
    const wire = await startWire()
    wire.answer(() => undefined)
    const runtime: Runtime = await provider.plugin.make({ timeout_s: 600 })
    const controller = new AbortController()
    const asked = runtime.infer(callOf(wire.url.replace('http:', 'https:'), controller.signal))
    await until(() => wire.open === 1)
    controller.abort()
    await expect(asked).rejects.toMatchObject({ kind: 'upstream', code: 'upstream_unreachable' })
    await runtime.close()
    await wire.close()
  })

  it('before it began is over at once', async () => {
    const wire = await startWire()
    wire.answer(() => undefined)
    const runtime: Runtime = await provider.plugin.make({ timeout_s: 600 })
    const asked = runtime.infer(callOf(wire.url.replace('http:', 'https:'), AbortSignal.abort()))
    await expect(asked).rejects.toMatchObject({ kind: 'upstream', code: 'upstream_unreachable' })
    await runtime.close()
    await wire.close()
  })

  it('by leaving its stream is cancelled upstream, and one read to its end is not', async () => {
    const upstream = await startUpstream()
    const runtime: Runtime = await provider.plugin.make({})
    upstream.answer((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chatFrames[0])
    })
    const left = await runtime.infer(callOf(upstream.url, new AbortController().signal))
    if (left.kind !== 'stream') throw new Error('a stream was asked for')
    for await (const chunk of left.chunks) if (chunk.length > 0) break
    await until(() => upstream.cancelled === 1)
    upstream.answer(answerPlainly)
    const read = await runtime.infer(callOf(upstream.url, new AbortController().signal))
    if (read.kind !== 'stream') throw new Error('a stream was asked for')
    for await (const chunk of read.chunks) expect(chunk.length).toBeGreaterThan(0)
    expect(upstream.cancelled).toBe(1)
    await runtime.close()
    await upstream.close()
  })
})

describe('a stream that nobody reads', () => {
  it('is held back upstream, and comes whole once somebody does', async () => {
    const upstream = await startUpstream()
    const runtime: Runtime = await provider.plugin.make({})
    const piece = Buffer.alloc(256 * 1024, 'x')
    const pieces = 64
    upstream.answer((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let sent = 0; sent < pieces; sent++) response.write(piece)
      response.end()
    })
    const answer = await runtime.infer(callOf(upstream.url, new AbortController().signal))
    if (answer.kind !== 'stream') throw new Error('a stream was asked for')
    let bytes = 0
    for await (const chunk of answer.chunks) {
      bytes += chunk.length
      // Each chunk is read late, so that more waits than the runtime holds.
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(bytes).toBe(pieces * piece.length)
    await runtime.close()
    await upstream.close()
  })
})

describe('with more upstreams than it keeps connections to', () => {
  it('the one that was asked longest ago is let go, and its answers under way are finished', async () => {
    const upstream = await startUpstream()
    const runtime: Runtime = await provider.plugin.make({})
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
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
    open()
    expect(await slow).toMatchObject({ kind: 'whole', status: 200 })
    await runtime.close()
    await upstream.close()
  })
})
