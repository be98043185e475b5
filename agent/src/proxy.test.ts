import { once } from 'node:events'
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { connect, createServer } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { json, listening, upstream } from './testing/upstream.ts'
import { startProxy, type Proxy } from './proxy.ts'

const KEY = 'run-key'

async function proxyTo(url: string, kept: string[] = [], token: string | null = 'secret-token'): Promise<Proxy> {
  const about = { url, token, scenario: 'Prüfung', session: 'session-1', release: 'release-1' }
  const proxy = await startProxy(about, KEY, (receipt) => void kept.push(receipt))
  onTestFinished(() => proxy.close())
  return proxy
}

interface Asked {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: Buffer | string
}

async function ask({ url }: Proxy, path: string, { method = 'POST', headers = { authorization: `Bearer ${KEY}` }, body }: Asked = {}) {
  const outgoing = request(`${url}${path}`, { method, headers })
  outgoing.end(body)
  const [answer]: IncomingMessage[] = await once(outgoing, 'response')
  if (answer === undefined) throw new Error('no answer')
  return answer
}

describe('what passes', () => {
  it('goes on with the token, the scenario and the tags, without what is about the agent’s own connection', async () => {
    const service = await upstream((_heard, response) => json(response, 200, { ok: true }))
    const proxy = await proxyTo(`${service.url}/behind/a/gateway`)
    const headers = {
      authorization: `Bearer ${KEY}`,
      'x-api-key': KEY,
      'x-svc-scenario': 'forged',
      'x-svc-tag-session': 'forged',
      'x-svc-tag-own': 'mine',
      'anthropic-beta': ['one', 'two'],
      connection: 'keep-alive, x-private',
      'x-private': 'hop',
    }
    expect((await ask(proxy, '/v1/messages?beta=true', { headers, body: '{}' })).statusCode).toBe(200)
    const [heard] = service.heard
    expect(heard).toMatchObject({ method: 'POST', url: '/behind/a/gateway/v1/messages?beta=true', body: '{}' })
    expect(heard?.headers).toMatchObject({
      authorization: 'Bearer secret-token',
      'x-svc-scenario': Buffer.from('Prüfung').toString('latin1'),
      'x-svc-tag-session': 'session-1',
      'x-svc-tag-release': 'release-1',
      'x-svc-tag-own': 'mine',
      'anthropic-beta': 'one, two',
    })
    expect(heard?.headers).not.toHaveProperty('x-api-key')
    expect(heard?.headers).not.toHaveProperty('x-private')
  })

  it('carries no authorization when no token is known', async () => {
    const service = await upstream((_heard, response) => json(response, 200, {}))
    await ask(await proxyTo(service.url, [], null), '/v1/models', { method: 'GET' })
    expect(service.heard[0]?.headers).not.toHaveProperty('authorization')
  })

  it('arrives byte for byte in both directions, with and without a length', async () => {
    const url = await listening((incoming, response) => incoming.pipe(response.writeHead(201, 'Made', { 'content-type': 'x/y' })))
    const proxy = await proxyTo(url)
    const body = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => (index * 7) % 256))
    for (const framing of [{ 'content-length': body.length }, { 'transfer-encoding': 'chunked' }]) {
      const answer = await ask(proxy, '/v1/audio/speech', { headers: { authorization: `Bearer ${KEY}`, ...framing }, body })
      expect([answer.statusCode, answer.statusMessage, answer.headers['content-type']]).toEqual([201, 'Made', 'x/y'])
      expect(body.equals(await buffer(answer))).toBe(true)
    }
  })

  it('is answered with "continue" only after the key was looked at', async () => {
    const proxy = await proxyTo(await listening((incoming, response) => incoming.pipe(response)))
    const continued: string[] = []
    const send = async (key: string): Promise<IncomingMessage | undefined> => {
      const headers = { authorization: `Bearer ${key}`, expect: '100-continue', 'content-length': 2 }
      const outgoing = request(`${proxy.url}/v1/responses`, { method: 'POST', headers })
      outgoing.on('continue', () => {
        continued.push(key)
        outgoing.end('hi')
      })
      outgoing.flushHeaders()
      const [answer]: IncomingMessage[] = await once(outgoing, 'response')
      return answer
    }
    expect((await send('wrong'))?.statusCode).toBe(401)
    const answer = await send(KEY)
    expect(answer === undefined ? null : await text(answer)).toBe('hi')
    expect(continued).toEqual([KEY])
  })
})

describe('a receipt', () => {
  it('of a plain answer is kept before the answer is seen', async () => {
    const service = await upstream((_heard, response) => response.writeHead(200, { 'x-svc-agent-record-id': 'r-1' }).end('{}'))
    const kept: string[] = []
    await ask(await proxyTo(service.url, kept), '/v1/chat/completions')
    expect(kept).toEqual(['r-1'])
  })

  it('of a stream is kept before its event can be read, and the stream is what the service sent', async () => {
    const stream = Buffer.from(
      'data: {"choices":[{"delta":{"content":"ü"}}]}\n\ndata: {"choices":[],"svc.agent_record_id":"r-1"}\n\ndata: [DONE]\n\n',
    )
    const service = await upstream(async (_heard, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      for (const byte of stream) await new Promise<unknown>((resolve) => response.write(Buffer.from([byte]), resolve))
      response.end()
    })
    const kept: string[] = []
    const answer = await ask(await proxyTo(service.url, kept), '/v1/chat/completions?x=1')
    let seen = ''
    for await (const chunk of answer.setEncoding('utf8')) {
      seen += String(chunk)
      if (seen.includes('"r-1"}\n\n')) expect(kept).toEqual(['r-1'])
    }
    expect(seen).toBe(stream.toString())
    expect(kept).toEqual(['r-1'])
    expect(service.heard[0]?.headers['accept-encoding']).toBe('identity')
  })

  it('of counted tokens is not kept', async () => {
    const service = await upstream((_heard, response) => response.writeHead(200, { 'x-svc-agent-record-id': 'r-1' }).end('{}'))
    const kept: string[] = []
    await ask(await proxyTo(service.url, kept), '/v1/messages/count_tokens?beta=true')
    expect(kept).toEqual([])
  })
})

const unheard = async () => {
  const service = await upstream((_heard, response) => json(response, 200, {}))
  return { service, proxy: await proxyTo(service.url) }
}

describe('what is refused', () => {
  it.each([
    ['no key', {}],
    ['another key', { authorization: 'Bearer wrong' }],
    ['another key beside the right one', { authorization: 'Bearer wrong', 'x-api-key': KEY }],
    ['half a key', { 'x-api-key': KEY.slice(0, 3) }],
  ])('%s is 401', async (_title, headers) => {
    const { service, proxy } = await unheard()
    expect((await ask(proxy, '/v1/responses', { headers, body: '{}' })).statusCode).toBe(401)
    expect(service.heard).toEqual([])
  })

  it('the key as x-api-key is as good', async () => {
    const { proxy } = await unheard()
    expect((await ask(proxy, '/v1/messages', { headers: { 'x-api-key': KEY } })).statusCode).toBe(200)
  })

  it.each(['evil.example', 'evil.example:80', '127.0.0.1.evil.example'])('a host header of %j is 403', async (host) => {
    const { service, proxy } = await unheard()
    expect((await ask(proxy, '/v1/responses', { headers: { host, authorization: `Bearer ${KEY}` } })).statusCode).toBe(403)
    expect(service.heard).toEqual([])
  })

  it.each([
    ['GET', '/'],
    ['GET', '/v1'],
    ['GET', '/svc/scenarios'],
    ['POST', '/svc/scenarios/x/promote'],
    ['POST', '/svc/harness/proposals'],
    ['GET', '/svc/train'],
    ['POST', '/svc/records'],
    ['DELETE', '/svc/harness'],
    ['GET', '/v1/../svc/scenarios'],
    ['GET', '/v1/%2e%2e/svc/scenarios'],
    ['GET', '/v1/..\\svc/scenarios'],
    ['GET', '/svc/harness/../scenarios'],
    ['GET', '/svc/harnesses'],
    ['GET', '/svc/harness/releases/1/records'],
    ['GET', '/svc/harness/releases/1/records?path=episodes/candidate-0/episode.json'],
  ])('%s %s is 404', async (method, path) => {
    const { service, proxy } = await unheard()
    const { port } = new URL(proxy.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.end(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${KEY}\r\nconnection: close\r\n\r\n`)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 /)
    expect(service.heard).toEqual([])
  })

  it.each([
    ['GET', '/svc/harness?release_id=x'],
    ['GET', '/svc/harness/requests/r/progress'],
    ['GET', '/svc/status'],
    ['POST', '/svc/train'],
    ['POST', '/svc/report'],
    ['DELETE', '/v1/responses/r'],
  ])('%s %s is not', async (method, path) => {
    const { service, proxy } = await unheard()
    expect((await ask(proxy, path, { method })).statusCode).toBe(200)
    expect(service.heard).toMatchObject([{ method, url: path }])
  })

  it('a websocket is 426, so that the agent falls back at once', async () => {
    const { proxy } = await unheard()
    const headers = { authorization: `Bearer ${KEY}`, connection: 'upgrade', upgrade: 'websocket' }
    expect((await ask(proxy, '/v1/responses', { method: 'GET', headers })).statusCode).toBe(426)
  })

  it('says why in the shape that the route’s SDK parses', async () => {
    const { proxy } = await unheard()
    const bodyOf = async (path: string): Promise<unknown> => JSON.parse(await text(await ask(proxy, path, { headers: {} })))
    expect(await bodyOf('/v1/messages?beta=true')).toMatchObject({ type: 'error', error: { type: 'authentication_error' } })
    expect(await bodyOf('/v1/responses')).toMatchObject({ error: { type: 'authentication_error', code: 'unauthorized' } })
  })
})

describe('when a side goes away', () => {
  it('a service that is not there is 502 with its address, in both shapes', async () => {
    const proxy = await proxyTo('http://127.0.0.1:1')
    const answer = await ask(proxy, '/v1/chat/completions', { body: '{}' })
    expect(answer.statusCode).toBe(502)
    const body: unknown = JSON.parse(await text(answer))
    expect(body).toMatchObject({
      error: { type: 'api_error', code: 'service_unreachable', message: expect.stringContaining('http://127.0.0.1:1') },
    })
    expect(JSON.parse(await text(await ask(proxy, '/v1/messages')))).toMatchObject({ type: 'error', error: { type: 'api_error' } })
  })

  it.each(['099 OK', '200 O\u0001K'])(
    'an answer of %j, which may not be passed on, is 502, and the next call is served',
    async (status) => {
      const server = createServer(
        (socket) => void socket.once('data', () => socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 2\r\n\r\n{}`)),
      )
      onTestFinished(() => void server.close())
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const address = server.address()
      if (address === null || typeof address === 'string') throw new Error('a listening socket has a port')
      const proxy = await proxyTo(`http://127.0.0.1:${address.port}`)
      for (const path of ['/v1/responses', '/v1/messages']) expect((await ask(proxy, path, { body: '{}' })).statusCode).toBe(502)
    },
  )

  it.each([false, true])('an agent that goes cancels the call (while it streams: %s)', async (streams) => {
    const gone = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const url = await listening((incoming, response) => {
      response.on('close', () => gone.resolve())
      if (streams) response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n')
      incoming.resume().on('end', () => begun.resolve())
    })
    const proxy = await proxyTo(url)
    const outgoing = request(`${proxy.url}/v1/responses`, { method: 'POST', headers: { authorization: `Bearer ${KEY}` } })
    outgoing.on('error', () => undefined)
    outgoing.end('{}')
    await begun.promise
    if (streams) await once(outgoing, 'response')
    outgoing.destroy()
    await gone.promise
  })

  it('an agent that goes while it sends cancels the call, and the next one is served', async () => {
    const begun = Promise.withResolvers<void>()
    const gone = Promise.withResolvers<void>()
    const url = await listening((incoming, response) => {
      if (incoming.url === '/v1/models') return response.end('{}')
      incoming.once('data', () => begun.resolve())
      return incoming.on('error', () => gone.resolve())
    })
    const proxy = await proxyTo(url)
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1')
    socket.write(`POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${KEY}\r\ncontent-length: 100\r\n\r\n{`)
    await begun.promise
    socket.destroy()
    await gone.promise
    expect((await ask(proxy, '/v1/models', { method: 'GET' })).statusCode).toBe(200)
  })

  it('a stream that breaks off at the service breaks off at the agent', async () => {
    const service = await upstream((_heard, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {}\n\n', () => response.destroy())
    })
    const answer = await ask(await proxyTo(service.url), '/v1/responses')
    await expect(text(answer)).rejects.toThrow()
  })

  it('closing ends a call that is under way', async () => {
    const proxy = await proxyTo(await listening(() => undefined))
    const asked = ask(proxy, '/v1/responses')
    asked.catch(() => undefined)
    await proxy.close()
    await expect(asked).rejects.toThrow()
  })
})
