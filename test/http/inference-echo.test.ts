/** An upstream that echoes the key it was asked with: the key leaves the service in no form. */
import { describe, expect, it } from 'vitest'
import { refusalOfUpstream } from '../../src/inference/index.ts'
import { withoutKey } from '../../src/kit/index.ts'
import { recordsOf } from '../support/kept.ts'
import { sendJson } from '../support/upstream.ts'
import { sharedWorld } from '../support/world.ts'

/** No vendor's shape: it is known by nothing but the configuration. */
const KEY = ['qV7+x/Lm', 'R4tZ0pWn', 'B8sKd2Hy', 'Ju6eFc=='].join('')
const here = sharedWorld({ settings: { 'inference.upstream_api_key': KEY } })
const named = { 'x-svc-scenario': 'echo' }
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const each = (write: (letter: string) => string): string => Array.from(KEY, write).join('')

/** Every run of eight characters of the key, and of its usual encodings. */
const TRACES = [KEY, encodeURIComponent(KEY), base64(KEY), base64(`x${KEY}`), base64(`xx${KEY}`), Buffer.from(KEY).toString('hex')].flatMap(
  (form) => (form.length < 24 ? [] : [form.slice(0, 12), form.slice(8, 20), form.slice(-14, -2)]),
)

const FORMS: Readonly<Record<string, string>> = {
  whole: KEY,
  'in a sentence': `Incorrect API key provided: ${KEY}. Find yours elsewhere.`,
  'with its scheme': `Bearer ${KEY}`,
  'its first half': KEY.slice(0, 16),
  'its last half': KEY.slice(16),
  'eight characters from its middle': KEY.slice(9, 17),
  'both ends, with stars between': `${KEY.slice(0, 8)}********${KEY.slice(-8)}`,
  twice: `${KEY} ${KEY}`,
  'in lower case': KEY.toLowerCase(),
  'in upper case': KEY.toUpperCase(),
  backwards: Array.from(KEY).toReversed().join(''),
  'for an address': encodeURIComponent(KEY),
  'all percent signs': each((letter) => `%${letter.charCodeAt(0).toString(16)}`),
  'in Base64': base64(KEY),
  'in Base64 with its scheme': base64(`Bearer ${KEY}`),
  'in Base64 as a user': base64(`:${KEY}`),
  'in Base64 for an address': Buffer.from(KEY).toString('base64url'),
  'in hexadecimal': Buffer.from(KEY).toString('hex'),
  'escaped for JSON': each((letter) => `\\u00${letter.charCodeAt(0).toString(16).padStart(2, '0')}`),
  'with escaped slashes': KEY.replaceAll('/', '\\/'),
  'with spaces': each((letter) => `${letter} `),
  'with dashes': KEY.replaceAll(/.{4}/g, '$&-'),
  'over lines': KEY.replaceAll(/.{6}/g, '$&\n'),
  'with zero-width spaces': each((letter) => `${letter}\u200b`),
  'with tag characters': each((letter) => `${letter}\u{e0041}`),
}

function expectNoTrace(said: unknown): void {
  const text = typeof said === 'string' ? said : JSON.stringify(said)
  for (const trace of TRACES) expect(text.toLowerCase()).not.toContain(trace.toLowerCase())
  expect(text.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase()).not.toContain(
    KEY.replaceAll(/[^A-Za-z0-9]/g, '')
      .slice(4, 16)
      .toLowerCase(),
  )
}

describe('an error that holds the key [trust.upstream-key]', () => {
  it.each(Object.entries(FORMS))('%s', async (_, form) => {
    expectNoTrace(withoutKey(form, KEY))
    for (const body of [{ error: { message: form, type: 'x', code: form } }, { error: form }, { [form]: { error: form } }]) {
      here.upstream.answer((_received, response) => sendJson(response, 401, body, { 'x-request-id': encodeURI(form) }))
      const answer = await here.post('/v1/chat/completions', { model: 'm', messages: [] }, named)
      expect(answer.status).toBe(401)
      expectNoTrace(answer.text)
      expectNoTrace(answer.headers)
    }
  })

  it.each(['/v1/messages', '/v1/responses', '/v1/messages/count_tokens'])('on %s', async (path) => {
    here.upstream.answer((_received, response) => sendJson(response, 400, { type: 'error', error: { type: 'x', message: KEY } }, {}))
    expectNoTrace((await here.post(path, { model: 'm', messages: [], input: 'x' }, named)).text)
  })

  it('on the list of models', async () => {
    here.upstream.answer((_received, response) => sendJson(response, 403, { error: { message: `not ${KEY}` } }, {}))
    expectNoTrace((await here.get('/v1/models', named)).text)
  })

  it('as plain text, and as HTML', async () => {
    for (const body of [`no: ${KEY}`, `<html><b>${KEY}</b></html>`]) {
      here.upstream.answer((_received, response) => void response.writeHead(500).end(body))
      expectNoTrace((await here.post('/v1/chat/completions', { model: 'm', messages: [] }, named)).text)
    }
  })

  it('in a header of a good answer', async () => {
    const answer = { choices: [{ message: { role: 'assistant', content: 'yes' } }] }
    here.upstream.answer((_received, response) => sendJson(response, 200, answer, { 'x-request-id': KEY }))
    const { status, headers } = await here.post('/v1/chat/completions', { model: 'm', messages: [] }, named)
    expect(status).toBe(200)
    expectNoTrace(headers)
  })

  it('in an error event of a stream, in the record of it too', async () => {
    here.upstream.answer((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`data: ${JSON.stringify({ error: { message: `bad key ${KEY}` } })}\n\n`)
    })
    const answer = await here.post('/v1/chat/completions', { model: 'm', messages: [], stream: true }, { 'x-svc-scenario': 'echo-stream' })
    expectNoTrace(answer.text)
    expect(answer.text).toContain('bad key [redacted]')
    expectNoTrace(await recordsOf(here, 'echo-stream'))
  })

  it.each(['', '\n'])('in an error event that a stream ends with, without its blank line (%j)', async (end) => {
    here.upstream.answer((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`data: ${JSON.stringify({ error: { message: `bad key ${KEY}` } })}${end}`)
    })
    const answer = await here.post('/v1/chat/completions', { model: 'm', messages: [], stream: true }, { 'x-svc-scenario': 'echo-end' })
    expectNoTrace(answer.text)
    expect(answer.text).toContain('bad key [redacted]')
    expectNoTrace(await recordsOf(here, 'echo-end'))
  })

  it('in the event by which a response fails', async () => {
    const failed = {
      id: 'resp_1',
      object: 'response',
      status: 'failed',
      error: { code: 'server_error', message: `bad key ${KEY}` },
      output: [],
    }
    here.upstream.answer((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', response: failed })}\n\n`)
    })
    const answer = await here.post('/v1/responses', { model: 'm', input: 'x', stream: true }, { 'x-svc-scenario': 'echo-failed' })
    expectNoTrace(answer.text)
    expect(answer.text).toContain('bad key [redacted]')
    expectNoTrace(await recordsOf(here, 'echo-failed'))
  })

  it('is in no line of the log', () => {
    expect(here.log.length).toBeGreaterThan(0)
    expectNoTrace(here.log)
  })

  it('other secrets in an error are not passed on either', async () => {
    const secret = ['AK', 'IA', 'Q'.repeat(16)].join('')
    here.upstream.answer((_received, response) => sendJson(response, 400, { error: { message: `saw ${secret} there` } }, {}))
    const { text } = await here.post('/v1/chat/completions', { model: 'm', messages: [] }, named)
    expect(text).not.toContain(secret)
    expect(text).toContain('saw [redacted] there')
  })

  it('what the service itself says stays as it is', () => {
    const answer = { kind: 'whole', status: 500, headers: {}, body: Buffer.from('{}') } as const
    expect(refusalOfUpstream(answer, 'sk-upstream-key')).toMatchObject({ code: 'upstream_refused' })
  })

  it('an error without it passes byte for byte', async () => {
    const body = '{ "error" : {"message":"the key is wrong", "type":"x","extra":[1] } }'
    here.upstream.answer((_received, response) => void response.writeHead(401, { 'content-type': 'application/json' }).end(body))
    expect((await here.post('/v1/chat/completions', { model: 'm', messages: [] }, named)).text).toBe(body)
  })
})
