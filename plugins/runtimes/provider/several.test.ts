import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../test/support/listen.ts'
import { answerPlainly, breakOffAfter, chatFrames, type Script } from '../../../test/support/upstream.ts'
import { until } from '../../../test/support/wait.ts'
import { startWire } from '../../../test/support/wire.ts'
import { byOf, open, provider, refuses, textOf, two } from '../../../test/support/several-upstreams.ts'

describe('a call that gets no answer goes to the next upstream', () => {
  it.each([401, 402, 408, 429, 500, 502, 503, 504, 529])('after status %s', async (status) => {
    const { one, other, ask } = await two(refuses(status))
    expect(byOf(await ask())).toBe('other')
    expect([one.received.length, other.received.length]).toEqual([1, 1])
    expect(other.received[0]?.body.toString()).toBe('{"model":"m","messages":[]}')
  })

  it.each<[string, Script]>([
    ['a connection that is closed', (_received, response) => response.destroy()],
    ['a connection that is reset', (_received, response) => void response.socket?.resetAndDestroy()],
    [
      'an error that breaks off',
      (_received, response) => {
        response.writeHead(500, { 'content-length': 100 })
        response.write('some', () => response.destroy())
      },
    ],
  ])('after %s', async (_what, script) => {
    const { ask } = await two(script)
    expect(byOf(await ask())).toBe('other')
  })

  it('where nothing listens, and where nobody answers the TLS handshake', async () => {
    const other = await provider()
    const wire = await startWire()
    onTestFinished(() => wire.close())
    wire.answer(() => undefined)
    const { ask, several } = open({
      upstreams: {
        nothing: { url: `http://127.0.0.1:${await freePort()}` },
        slow: { url: wire.url.replace('http:', 'https:'), priority: 1, connect_timeout_s: 0.05 },
        other: { url: other.url, priority: 2 },
      },
    })
    expect(byOf(await ask())).toBe('other')
    expect(several.status()).toMatchObject([{ failures: 1, last_failure: { reason: 'no answer' } }, { failures: 1 }, { failures: 0 }])
  })

  it('after a time limit without a status', async () => {
    const other = await provider()
    const hangs = await provider(() => undefined)
    const { ask } = open({ upstreams: { hangs: { url: hangs.url, timeout_s: 0.05 }, other: { url: other.url, priority: 1 } } })
    expect(byOf(await ask())).toBe('other')
  })

  it('whole, also when its body came in pieces', async () => {
    const { other, ask } = await two(refuses(500))
    const pieces = ['{"model":"m",', '"messages":[]}'].map((text) => Buffer.from(text))
    const answer = await ask({ pieces })
    expect(other.received[0]?.body.toString()).toBe('{"model":"m","messages":[]}')
    // An earlier connection may hold the body still.
    expect(answer).not.toHaveProperty('isBodySent')
  })
})

describe('what was answered is never sent again', () => {
  it.each([400, 403, 404, 413, 422, 301, 200])('after status %s', async (status) => {
    const { other, ask } = await two(refuses(status))
    expect(await ask()).toMatchObject({ kind: 'whole', status, by: { name: 'one' } })
    expect(other.received).toEqual([])
  })

  it('where a success breaks off before its first byte, and in the middle', async () => {
    for (const text of ['', '{"id":']) {
      const { one, other, ask } = await two((_received, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
        response.flushHeaders()
        response.write(text)
        setImmediate(() => response.destroy())
      })
      await expect(ask()).rejects.toMatchObject({ code: 'upstream_unreachable' })
      expect([one.received.length, other.received.length]).toEqual([1, 0])
    }
  })

  it('where a success hangs in the middle', async () => {
    const other = await provider()
    const hangs = await provider((_received, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"id":')
    })
    const { ask } = open({ upstreams: { hangs: { url: hangs.url, timeout_s: 0.05 }, other: { url: other.url, priority: 1 } } })
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_timeout' })
    expect(other.received).toEqual([])
  })

  it('where a stream breaks off: nothing of another upstream follows', async () => {
    const { other, ask, several } = await two(breakOffAfter(chatFrames.slice(0, 2)))
    const answer = await ask()
    expect(byOf(answer)).toBe('one')
    await expect(textOf(answer)).rejects.toMatchObject({ code: 'upstream_unreachable' })
    expect(other.received).toEqual([])
    expect(several.status()).toMatchObject([{ failures: 1, last_failure: { reason: 'the answer broke off' } }, { calls: 0 }])
  })

  it('where the caller left', async () => {
    const { one, other, several, call } = await two(() => undefined)
    const gone = new AbortController()
    const asked = several.infer(call({ signal: gone.signal }))
    await until(() => one.received.length === 1)
    gone.abort()
    await expect(asked).rejects.toMatchObject({ kind: 'upstream' })
    expect(other.received).toEqual([])
    expect(several.status()).toMatchObject([{ failures: 0 }, { calls: 0 }])
  })
})

describe('retries', () => {
  it('end with what the last upstream said', async () => {
    const [one, other] = [await provider(refuses(500)), await provider(refuses(503))]
    const { ask } = open({ upstreams: { one: { url: one.url }, other: { url: other.url, priority: 1 } }, retries: 1 })
    expect(await ask()).toMatchObject({ status: 503, by: { name: 'other' } })
  })

  it('go round again after a pause, as often as configured', async () => {
    const [one, other] = [await provider(refuses(500)), await provider(refuses(503))]
    const { ask, pauses } = open({ upstreams: { one: { url: one.url }, other: { url: other.url, priority: 1 } }, retries: 4, failures: 0 })
    await ask()
    expect([one.received.length, other.received.length]).toEqual([3, 2])
    expect(pauses).toEqual([0.1875, 0.375])
  })

  it('wait as long as the upstream asks, and not beyond ten seconds', async () => {
    let answered = 0
    const limited: Script = (received, response) =>
      answered++ === 0 ? refuses(429, { 'retry-after': '3' })(received, response) : answerPlainly(received, response)
    const one = await provider(limited)
    const short = open({ upstreams: { one: { url: one.url } } })
    expect(await short.ask()).toMatchObject({ status: 200 })
    expect(short.pauses).toEqual([3])
    one.answer(refuses(429, { 'retry-after': '11' }))
    const long = open({ upstreams: { one: { url: one.url } } })
    expect(await long.ask()).toMatchObject({ status: 429, headers: { 'retry-after': '11' } })
    expect(long.pauses).toEqual([])
  })

  it('are none where they are switched off', async () => {
    const { other, ask } = await two(refuses(500), { retries: 0 })
    expect(await ask()).toMatchObject({ status: 500 })
    expect(other.received).toEqual([])
  })
})

describe('an upstream that is limited', () => {
  it('is passed over for that model until the time it asked for is over', async () => {
    const { one, ask, time } = await two(refuses(429, { 'retry-after': '20' }))
    await ask()
    one.answer(answerPlainly)
    expect(byOf(await ask())).toBe('other')
    expect(byOf(await ask({ askedModel: 'another' }))).toBe('one')
    time.now += 20
    expect(byOf(await ask())).toBe('one')
  })
})
