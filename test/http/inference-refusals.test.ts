/** Refusals of the upstream: status, message and retry headers, in the shape that the caller's SDK parses. */
import { describe, expect, it } from 'vitest'
import { recordsOf } from '../support/kept.ts'
import { answerPlainly, sendJson } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { sharedWorld, type Answer } from '../support/world.ts'

const here = sharedWorld()

const scenario = { 'x-svc-scenario': 'refusals' }
const CHAT_ROUTES = ['/v1/chat/completions', '/v1/responses']
const MESSAGES_ROUTES = ['/v1/messages', '/v1/messages/count_tokens', '/v1/messages?beta=true']
const ROUTES = [...CHAT_ROUTES, ...MESSAGES_ROUTES]
const JSON_TYPE = { 'content-type': 'application/json' }

async function refused(
  status: number,
  body: string | object,
  headers: Record<string, string> = {},
  path = '/v1/chat/completions',
  sent: object = {},
): Promise<Answer> {
  here.upstream.answer((_received, response) => {
    if (typeof body === 'object') sendJson(response, status, body, headers)
    else response.writeHead(status, headers).end(body)
  })
  const answer = await here.post(path, sent, scenario)
  here.upstream.answer(answerPlainly)
  return answer
}

const TABLE = [
  ...[400, 401, 403, 404, 408, 409, 422, 429].map((status) => ({ upstream: status, status })),
  ...[402, 405, 406, 410, 412, 413, 415, 418, 424, 425, 431, 451, 499].map((upstream) => ({ upstream, status: 400 })),
  ...[300, 301, 302, 304, 307, 308, 500, 501, 502, 503, 504, 520, 529].map((upstream) => ({ upstream, status: 502 })),
]

describe('an upstream that refuses', () => {
  it.each(TABLE)(
    'with $upstream is answered with $status and its words [errors.upstream-relay] [errors.400-upstream] [errors.403] [auth.7] [errors.502]',
    async ({ upstream, status }) => {
      for (const path of ROUTES) {
        const body = upstream === 304 ? '' : { error: { message: 'the provider says no', type: 'its_type', code: 'its_code' } }
        const answer = await refused(upstream, body, { location: 'http://127.0.0.1:1/' }, path)
        expect(answer.status).toBe(status)
        expect(answer.headers['x-svc-agent-record-id']).toBeUndefined()
        expect(answer.headers['location']).toBeUndefined()
        expect(answer.headers['x-svc-upstream-status']).toBe(upstream === status ? undefined : String(upstream))
        if (upstream !== 304) expect(answer.json).toMatchObject({ error: { message: 'the provider says no' } })
      }
    },
  )

  it('leaves no record', async () => {
    await refused(429, { error: { message: 'slow down' } })
    await refused(500, { error: { message: 'broken' } }, {}, '/v1/messages', { stream: true })
    expect(await recordsOf(here, 'refusals')).toEqual([])
  })

  it('is refused in the same way where a stream was asked for', async () => {
    const answer = await refused(429, { error: { message: 'slow down' } }, { 'retry-after': '9' }, '/v1/responses', { stream: true })
    expect(answer).toMatchObject({ status: 429, headers: { 'content-type': 'application/json', 'retry-after': '9' } })
  })
})

describe('an upstream that is overloaded', () => {
  const OVERLOADED = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const BUSY = { error: { message: 'try later', type: 'server_error', code: 'server_is_overloaded' } }

  it.each([503, 529])('keeps its status %i, which clients wait out', async (status) => {
    for (const [path, body] of Object.entries({ '/v1/messages': OVERLOADED, '/v1/responses': BUSY })) {
      const answer = await refused(status, body, { 'retry-after': '2' }, path)
      expect([answer.status, answer.json, answer.headers['retry-after']]).toEqual([status, body, '2'])
      expect(answer.headers['x-svc-upstream-status']).toBeUndefined()
    }
  })

  it('and answers with another status is broken like any other', async () => {
    const { status, json, headers } = await refused(500, OVERLOADED, {}, '/v1/messages')
    expect([status, json, headers['x-svc-upstream-status']]).toEqual([502, OVERLOADED, '500'])
  })
})

describe('the request id of a refusal', () => {
  it("is the provider's where it sent one, and the log finds it by either", async () => {
    const sent = { 'request-id': 'req_theirs', 'x-request-id': 'also-theirs' }
    const answer = await refused(429, { error: { message: 'slow down' } }, sent, '/v1/messages')
    expect(answer.headers).toMatchObject(sent)
    await until(() => here.log.some(({ upstream_id }) => upstream_id === 'also-theirs'))
    expect(here.log.find(({ upstream_id }) => upstream_id === 'also-theirs')).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      upstream_status: 429,
    })
  })

  it('is ours where it sent none, on the messages routes also where their clients look for it', async () => {
    const { headers } = await refused(500, '', {}, '/v1/messages')
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/)
    expect(headers['request-id']).toBe(headers['x-request-id'])
    expect((await refused(500, '')).headers['request-id']).toBeUndefined()
    const own = await here.post('/v1/messages', '{', scenario)
    expect(own.headers['request-id']).toBe(own.headers['x-request-id'])
  })
})

describe('the error body', () => {
  const TYPES = [
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [409, 'conflict_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
  ] as const

  it.each(TYPES)(
    'of %i that came in another shape has that of the route and the type %s [decisions.errors-shape]',
    async (status, type) => {
      for (const path of CHAT_ROUTES)
        expect((await refused(status, { error: 'no' }, {}, path)).json).toEqual({
          error: { message: 'no', type, code: 'upstream_refused' },
        })
      const said = { error: { message: 'no', type: 'its_type', code: 'its_code' } }
      for (const path of MESSAGES_ROUTES)
        expect((await refused(status, said, {}, path)).json).toEqual({ type: 'error', error: { type, message: 'no' } })
    },
  )

  it.each([400, 402, 413, 429, 500, 529])(
    "of %i in the shape of the route is the provider's, byte for byte [decisions.errors-upstream]",
    async (status) => {
      const chat = '{ "error" : {"message":"n\\u00f6", "type":"its_type", "param":"messages[0]", "code":null}, "more": 1e2 }'
      for (const path of CHAT_ROUTES) expect((await refused(status, chat, JSON_TYPE, path)).text).toBe(chat)
      const messages = '{"type":"error","error":{"type":"its_type","message":"no","details":{}},"request_id":"req_1"}\n'
      for (const path of MESSAGES_ROUTES) expect((await refused(status, messages, JSON_TYPE, path)).text).toBe(messages)
    },
  )

  it('is JSON whatever the provider called it, and its message alone where it is long', async () => {
    const said = { error: { message: '<script>alert(1)</script>', type: 'its_type' } }
    expect((await refused(400, JSON.stringify(said), { 'content-type': 'text/html' })).headers['content-type']).toBe('application/json')
    const long = { error: { message: 'no', type: 'its_type', code: 'its_code', more: 'x'.repeat(65_536) } }
    expect((await refused(400, long)).json).toEqual({ error: { message: 'no', type: 'invalid_request_error', code: 'its_code' } })
  })

  it.each([
    ['a message under error', { error: { message: 'words' } }, 'words'],
    ['error as text', { error: 'words' }, 'words'],
    ['JSON without a message', { detail: 'words' }, '{"detail":"words"}'],
    ['JSON that is no object', '["words"]', '["words"]'],
    ['plain text', '  words\n', 'words'],
    ['HTML', '<h1>words</h1>', '<h1>words</h1>'],
    ['nothing', '', 'the upstream answered with status 422 and no message'],
    ['an empty message', { error: { message: '' } }, '{"error":{"message":""}}'],
  ])('holds what the provider said: %s [decisions.errors-upstream]', async (_shape, body, message) => {
    expect((await refused(422, body)).json).toMatchObject({ error: { message } })
  })

  it('holds the first 2,000 characters of a body without a message, counted as people count [decisions.errors-upstream]', async () => {
    const snow = '🌨'.repeat(2001)
    const { json } = await refused(400, snow)
    expect(json).toMatchObject({ error: { message: '🌨'.repeat(2000) } })
    const long = await refused(500, 'x'.repeat(5_000_000))
    expect(long.status).toBe(502)
    expect(long.json).toMatchObject({ error: { message: 'x'.repeat(2000) } })
    expect((await refused(400, 'x'.repeat(2000))).json).toMatchObject({ error: { message: 'x'.repeat(2000) } })
  })

  it('keeps retry and rate-limit headers, and no others [decisions.errors-upstream]', async () => {
    const kept = {
      'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT',
      'retry-after-ms': '1500',
      'x-should-retry': 'true',
      'x-ratelimit-limit-requests': '60',
      'anthropic-ratelimit-tokens-remaining': '0',
    }
    const { headers } = await refused(429, { error: { message: 'slow down' } }, { ...kept, 'set-cookie': 'a=b', server: 'up', etag: '"x"' })
    expect(headers).toMatchObject(kept)
    expect(Object.keys(headers).filter((name) => ['set-cookie', 'server', 'etag'].includes(name))).toEqual([])
  })
})
