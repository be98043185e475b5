/** What goes upstream and what comes back: the client's bytes, the configured key, and nothing that is the service's own. */
import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { answerPlainly, type Received } from '../support/upstream.ts'
import { ownWorld, sharedWorld } from '../support/world.ts'

const TOKEN = 'the-service-token'
const KEY = 'the-upstream-key'

const here = sharedWorld({ settings: { 'svc.token': TOKEN, 'inference.upstream_api_key': KEY } })

const ROUTES = [
  { path: '/v1/chat/completions', key: { authorization: `Bearer ${KEY}` } },
  { path: '/v1/responses', key: { authorization: `Bearer ${KEY}` } },
  { path: '/v1/messages', key: { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' } },
  { path: '/v1/messages/count_tokens', key: { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' } },
]

/** Spaces, number spellings, escapes and key order that parsing and printing would not keep. */
const ODD_BODY =
  '{ "model" : "m",\t"temperature":0.70,"n":1E0,"messages":[],"input":"\\u00e9 é 🌍","seed":12345678901234567890,"a":1,"a":2 }\n'

async function forwarded(path: string, headers: Readonly<Record<string, string>> = {}, body = '{}'): Promise<Received> {
  const answer = await here.post(path, body, { authorization: `Bearer ${TOKEN}`, 'x-svc-scenario': 'forwarding', ...headers })
  expect(answer.status).toBe(200)
  const received = here.upstream.received.at(-1)
  if (received === undefined) throw new Error('nothing was forwarded')
  return received
}

/** Headers that any HTTP request has. */
function meaningful({ host: _host, connection: _used, 'content-length': _length, ...rest }: IncomingHttpHeaders): IncomingHttpHeaders {
  return rest
}

describe.each(ROUTES)('$path', ({ path, key }) => {
  it('forwards the received bytes untouched [decisions.inference-bytes] [inference.forwarded]', async () => {
    const received = await forwarded(path, {}, ODD_BODY)
    expect(received.body.toString()).toBe(ODD_BODY)
    expect(received.headers['content-length']).toBe(String(Buffer.byteLength(ODD_BODY)))
    expect(received.method).toBe('POST')
  })

  it('forwards its path and query, which plays no part in finding it [decisions.inference-url] [decisions.inference-query]', async () => {
    expect((await forwarded(path)).url).toBe(path)
    expect((await forwarded(`${path}?beta=true`)).url).toBe(`${path}?beta=true`)
    expect((await forwarded(`${path}?a=%2F&b[]=1&&c`)).url).toBe(`${path}?a=%2F&b[]=1&&c`)
  })

  it('sends the configured key in the form of its format, and identity as the encoding [decisions.inference-credentials] [decisions.streams-identity]', async () => {
    const { headers } = await forwarded(path)
    expect(meaningful(headers)).toEqual({ ...key, 'content-type': 'application/json', 'accept-encoding': 'identity' })
  })

  it('forwards the listed client headers and no others [decisions.inference-request-headers]', async () => {
    const listed = {
      'anthropic-version': '2099-01-01',
      'anthropic-beta': 'tools-2024-04-04,other',
      'openai-organization': 'org-1',
      'openai-project': 'proj-1',
      'openai-beta': 'responses=v1',
      'idempotency-key': 'same-1',
      'user-agent': 'agent/1.0 (caf\u00e9)',
    }
    const own = {
      cookie: 'session=1',
      'x-svc-tag-task': 't1',
      'x-svc-tag-release': 'r1',
      'x-svc-anything': '1',
      'x-request-id': 'mine',
      'x-forwarded-for': '10.0.0.1',
      accept: 'text/event-stream',
      'accept-encoding': 'gzip, br',
      'proxy-authorization': 'Basic eDp5',
      'content-type': 'application/json; charset=utf-8',
    }
    const { headers } = await forwarded(path, { ...listed, ...own })
    expect(meaningful(headers)).toEqual({ ...key, ...listed, 'content-type': 'application/json', 'accept-encoding': 'identity' })
  })

  it('keeps the service token to itself, wherever it was presented [decisions.inference-service-token]', async () => {
    const body = '{"model":"m"}'
    const bearer = await forwarded(path, {}, body)
    const answer = await here.post(path, body, { 'x-api-key': TOKEN, 'x-svc-scenario': 'forwarding' })
    expect(answer.status).toBe(200)
    for (const { headers, url } of [bearer, here.upstream.received.at(-1) ?? bearer]) {
      expect(JSON.stringify({ headers, url })).not.toContain(TOKEN)
      expect(headers).toMatchObject(key)
    }
  })

  it('relays content type, request ids, rate limits and retry headers, and no others [decisions.inference-response-headers]', async () => {
    const relayed = {
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': 'req-up',
      'request-id': 'req_up',
      'retry-after': '3',
      'retry-after-ms': '3000',
      'x-should-retry': 'false',
      'x-ratelimit-remaining-tokens': '7',
      'anthropic-ratelimit-requests-reset': '2030-01-01T00:00:00Z',
    }
    const own = {
      'set-cookie': 'a=b',
      'access-control-allow-origin': '*',
      'x-svc-agent-record-id': 'forged',
      'x-svc-release-id': 'forged',
      server: 'up',
      'strict-transport-security': 'max-age=1',
      'content-disposition': 'attachment',
    }
    here.upstream.answer((_received, response) => void response.writeHead(200, { ...relayed, ...own }).end('{"input_tokens":1}'))
    const { headers } = await here.post(path, '{}', { authorization: `Bearer ${TOKEN}`, 'x-svc-scenario': 'forwarding' })
    here.upstream.answer(answerPlainly)
    const { date: _date, connection: _connection, 'keep-alive': _keepAlive, 'x-svc-agent-record-id': receipt, ...rest } = headers
    expect(rest).toEqual({ ...relayed, 'content-length': '18', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    expect(receipt).toMatch(/^[0-9a-f]{32}$/)
  })

  it('survives header values of an upstream that no answer could repeat', async () => {
    here.upstream.answer((received, response) => {
      response.setHeader('content-type', 'application/json')
      response.setHeader('x-request-id', Buffer.from('☃ \u00e9').toString('latin1'))
      answerPlainly(received, response)
    })
    const answer = await here.post(path, '{}', { authorization: `Bearer ${TOKEN}`, 'x-svc-scenario': 'forwarding' })
    here.upstream.answer(answerPlainly)
    expect(answer.status).toBe(200)
  })
})

describe('the upstream address', () => {
  it('may have a path of its own, before the one the client used [decisions.inference-url]', async () => {
    const prefixed = await ownWorld({ settings: { 'inference.upstream_url': `${here.upstream.url}/proxy/openai/` } })
    const answer = await prefixed.post('/v1/messages?beta=true', '{}', { 'x-svc-scenario': 's' })
    expect(answer.status).toBe(200)
    expect(here.upstream.received.at(-1)?.url).toBe('/proxy/openai/v1/messages?beta=true')
  })

  it('gets no credential at all when no key is configured [decisions.inference-credentials]', async () => {
    const keyless = await ownWorld()
    const mine = { authorization: 'Bearer mine', 'x-api-key': 'mine' }
    expect((await keyless.post('/v1/chat/completions', '{}', { 'x-svc-scenario': 's', ...mine })).status).toBe(200)
    for (const name of Object.keys(mine)) expect(keyless.upstream.received.at(-1)?.headers).not.toHaveProperty(name)
  })
})
