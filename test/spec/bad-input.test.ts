/** Invalid input: the right status, a message with the field and the fix, nothing stored, and never a 500. */
import { beforeAll, describe, expect, it } from 'vitest'
import { sharedWorld } from '../support/world.ts'
import { requestHead, sendRaw, statusOf } from './support/raw.ts'
import { expectRefusal, importInference, inference, named, recordIds, reportEnvelope, scenarioNames } from './support/helpers.ts'

const here = sharedWorld()
beforeAll(async () => {
  await importInference(here, 'kept', 'first')
})

type Case = readonly [title: string, path: string, body: string | object, code: string, message: RegExp]
const REPORT = '/svc/report'
const IMPORT = '/svc/records'
const BATCH = '/svc/records/batch'
const CREATE = '/svc/scenarios'
const QUOTES = { references: ['y'] }

const BODIES: readonly Case[] = [
  ['nothing', REPORT, '', 'malformed_json', /JSON/],
  ['half an object', REPORT, '{"score":1', 'malformed_json', /position \d+/],
  ['a list', REPORT, '[]', 'malformed_json', /JSON object/],
  ['null', REPORT, 'null', 'malformed_json', /JSON object/],
  ['a byte order mark', REPORT, '\ufeff{}', 'malformed_json', /JSON/],
  ['NaN', REPORT, '{"score":NaN}', 'malformed_json', /JSON/],
  ['a number beyond a double', REPORT, '{"score":1e999}', 'invalid_field', /^score: must be a finite number/],
  ['a score of 400 digits', REPORT, `{"score":${'9'.repeat(400)}}`, 'invalid_field', /^score: must be a finite number/],
  ['a whole number that would lose digits', CREATE, '{"name":9007199254740993}', 'number_out_of_range', /position 8 .* as text/],
  ['such a number deep inside', CREATE, '{"model":{"a":[1,{"b":-1e999}]}}', 'number_out_of_range', /model\.a\[1\]\.b/],
  ['a number of 400 digits', CREATE, `{"name":"x","model":{"a":${'9'.repeat(400)}}}`, 'number_out_of_range', /^model\.a/],
  ['a key twice', REPORT, '{"score":1,"score":2}', 'repeated_key', /"score"/],
  ['a key twice, once escaped', REPORT, '{"score":1,"\\u0073core":2}', 'repeated_key', /twice/],
  ['a key twice deep inside', REPORT, '{"metadata":{"a":[{"b":1,"b":2}]}}', 'repeated_key', /"b"/],
  ['half a surrogate pair', CREATE, '{"name":"\\ud800"}', 'lone_surrogate', /^name/],
  ['half a surrogate pair in a key', CREATE, '{"model":{"\\udc00":1}}', 'lone_surrogate', /model/],
  ['half a surrogate pair in an id', REPORT, '{"agent_record_id":"\\ud800"}', 'invalid_field', /^agent_record_id: .*well-formed/],
  ['half a surrogate pair in a reference', REPORT, '{"references":["\\ud800"]}', 'invalid_field', /^references\[0\]: .*well-formed/],
  ['a boolean score', REPORT, { score: true }, 'invalid_field', /^score: must be a finite number/],
  ['a score of text', REPORT, { score: '1' }, 'invalid_field', /^score/],
  ['feedback that is a number', REPORT, { feedback: 7 }, 'invalid_field', /^feedback: must be a string or an object/],
  ['feedback that is a list', REPORT, { feedback: [] }, 'invalid_field', /^feedback/],
  ['references that are no list', REPORT, { references: 'first' }, 'invalid_field', /^references: must be a list/],
  ['a reference that is no text', REPORT, { references: ['first', 3] }, 'invalid_field', /^references\[1\]/],
  ['metadata that is a list', REPORT, { metadata: [] }, 'invalid_field', /^metadata: must be a JSON object/],
  ['an id that is a number', REPORT, { agent_record_id: 5 }, 'invalid_field', /^agent_record_id/],
  ['an envelope without an id', IMPORT, { request_type: 'inference', payload: {} }, 'invalid_field', /^agent_record_id/],
  ['an envelope without a payload', IMPORT, { agent_record_id: 'x', request_type: 'inference' }, 'invalid_field', /^payload/],
  ['an envelope of a train request', IMPORT, { ...inference('x'), request_type: 'train' }, 'invalid_field', /^request_type: .*'report'/],
  ['an envelope with a scenario in it', IMPORT, { ...inference('x'), scenario: 'y' }, 'invalid_field', /"scenario" is not accepted/],
  ['a payload that is a list', IMPORT, { ...inference('x'), payload: [] }, 'invalid_field', /^payload/],
  ['an imported report with a bad score', IMPORT, reportEnvelope('x', { score: [] }), 'invalid_field', /^payload\.score/],
  ['an imported report of nothing known', IMPORT, reportEnvelope('x', QUOTES), 'unknown_reference', /^payload\.references\[0\]/],
  ['a batch that is no list', BATCH, { records: {} }, 'invalid_field', /^records: must be a list/],
  ['a batch with something beside it', BATCH, { records: [inference('x')], more: 1 }, 'invalid_field', /records and nothing else/],
  ['a batch with a number in it', BATCH, { records: [inference('x'), 4] }, 'invalid_field', /^records\[1\]/],
  ['a batch with a bad second', BATCH, { records: [inference('x'), {}] }, 'invalid_field', /^records\[1\]\.agent_record_id/],
  [
    'a batch whose report comes first',
    BATCH,
    { records: [reportEnvelope('x', QUOTES), inference('y')] },
    'unknown_reference',
    /^records\[0\]\.p/,
  ],
  ['a scenario without a name', CREATE, {}, 'invalid_field', /^name/],
  ['a scenario with an unknown field', CREATE, { name: 'x', color: 'red' }, 'invalid_field', /name, release_id, recipe and model/],
  [
    'a model with an unknown field',
    CREATE,
    { name: 'x', model: { key: 'k' } },
    'invalid_field',
    /^model: takes url, model, api, api_key, upstreams and formats/,
  ],
  ['a model url with a password', CREATE, { name: 'x', model: { url: 'http://me:pass@host' } }, 'invalid_field', /^model\.url/],
  ['a model url with a query', CREATE, { name: 'x', model: { url: 'http://host?a=1' } }, 'invalid_field', /^model\.url/],
  ['a model url of another scheme', CREATE, { name: 'x', model: { url: 'file:///etc' } }, 'invalid_field', /^model\.url: must be an http/],
  ['an unknown model api', CREATE, { name: 'x', model: { api: 'soap' } }, 'invalid_field', /^model\.api: must be 'openai'/],
  ['a model key with a line end', CREATE, { name: 'x', model: { api_key: 'a\nb' } }, 'invalid_field', /^model\.api_key/],
  ['an unknown recipe', CREATE, { name: 'x', recipe: 'cake' }, 'unknown_recipe', /^recipe/],
]

describe('a body', () => {
  it.each(BODIES)('with %s at %s is refused, and creates and stores nothing [decisions.errors-message]', async (...row) => {
    const [, path, body, code, message] = row
    expectRefusal(await here.post(path, body, named('never')), 400, code, message)
    expect(await scenarioNames(here)).toEqual(['kept'])
  })

  it('refused is not quoted, whatever secret stands in it [decisions.errors-message]', async () => {
    for (const body of ['{"score": sk-very-secret}', '{"score":"sk-very-secret"}', '{"references":["sk-very-secret"]}'])
      expect((await here.post(REPORT, body, named('kept'))).text).not.toContain('secret')
  })

  it('that is not UTF-8 is refused', async () => {
    expectRefusal(await here.post(REPORT, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), named('kept')), 400, 'malformed_json')
  })

  it('that is compressed is refused with what to send instead', async () => {
    expectRefusal(await here.post(REPORT, {}, { ...named('kept'), 'content-encoding': 'gzip' }), 400, 'encoded_body', /uncompressed/)
    expectRefusal(await here.post(REPORT, '[]', { ...named('kept'), 'content-encoding': 'Identity' }), 400, 'malformed_json', /object/)
  })

  it.each([REPORT, IMPORT, '/v1/chat/completions'])('of %s that stops half-way stores nothing', async (path) => {
    const before = await recordIds(here, 'kept')
    const head = requestHead('POST', path, ['x-svc-scenario: kept', 'content-length: 100'])
    const answer = await sendRaw(here.address, `${head}{"agent_record_id":"half"`, { isCutOff: true })
    expect(answer).toBe('')
    expect(await recordIds(here, 'kept')).toEqual(before)
    expect(here.log.filter(({ event }) => event === 'failure')).toEqual([])
  })

  it('may hold a key named __proto__, which is a key like any other', async () => {
    const body = '{"agent_record_id":"proto","request_type":"inference","payload":{"__proto__":{"polluted":true},"constructor":1}}'
    expect((await here.post(IMPORT, body, { ...named('proto'), 'x-svc-tag-__proto__': 'tag' })).status).toBe(200)
    const answer = await here.get('/svc/scenarios/proto/records/proto')
    expect(answer.text).toContain('"__proto__":{"polluted":true}')
    expect(answer.text).toContain('"tags":{"__proto__":"tag"}')
    expect((await here.ask('DELETE', '/svc/scenarios/proto')).status).toBe(200)
  })
})

function reportWith(headers: readonly string[]): Promise<string> {
  return sendRaw(here.address, `${requestHead('POST', REPORT, [...headers, 'content-length: 2'])}{}`)
}

describe('headers', () => {
  it.each([
    ['a scenario named twice', ['x-svc-scenario: a', 'x-svc-scenario: b'], 400],
    ['a scenario named twice alike', ['x-svc-scenario: a', 'x-svc-scenario: a'], 400],
    ['a scenario with a control character', ['x-svc-scenario: a\u0001b'], 400],
    ['a scenario of 201 characters', [`x-svc-scenario: ${'a'.repeat(201)}`], 400],
    ['a scenario with a path in it', ['x-svc-scenario: ../../etc'], 400],
    ['headers beyond 64 KiB', [`x-svc-scenario: ${'a'.repeat(66_000)}`], 431],
    ['an empty host', ['host: '], 400],
    ['a length that is no number', ['x-svc-scenario: a', 'content-length: two'], 400],
    ['two lengths', ['x-svc-scenario: a', 'content-length: 5'], 400],
    ['a length and chunks', ['x-svc-scenario: a', 'transfer-encoding: chunked'], 400],
  ])('with %s are refused with a request id and a JSON body [decisions.errors-request-id]', async (_title, headers, status) => {
    const answer = await reportWith(headers)
    expect(statusOf(answer)).toBe(status)
    expect(answer).toMatch(/x-request-id: [0-9a-f]{32}/i)
    expect(answer).toMatch(/\{"error":\{"message":"[^"]{10,}","type":"invalid_request_error","code":"[a-z_]+"\}\}$/)
    expect(await scenarioNames(here)).toEqual(['kept'])
  })

  it('that are no HTTP at all are refused with a request id and a JSON body [decisions.errors-request-id]', async () => {
    for (const text of ['nonsense\r\n\r\n', 'GET /svc/status HTTP/9.9\r\n\r\n', '\u0016\u0003\u0001\r\n\r\n']) {
      const answer = await sendRaw(here.address, text)
      expect(statusOf(answer)).toBe(400)
      expect(answer).toMatch(/x-request-id: [0-9a-f]{32}[\s\S]*"malformed_request"/)
    }
  })

  it.each(['a b', 'x/../y', 'user@host', 'a:b:c'])('with the host %s are refused where a URL is made of it, in our words', async (host) => {
    const answer = await sendRaw(here.address, `GET /svc/status HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    expect(statusOf(answer)).toBe(400)
    expect(answer).toMatch(/x-request-id: [0-9a-f]{32}[\s\S]*"bad_address"/)
  })

  it('outside ASCII are read as UTF-8 [decisions.scenario-name]', async () => {
    const answer = await reportWith(['x-svc-scenario: größe'])
    expect(statusOf(answer)).toBe(200)
    expect(answer).toContain('"scenario":"größe"')
    expect((await here.ask('DELETE', `/svc/scenarios/${encodeURIComponent('größe')}`)).status).toBe(200)
  })
})

describe('a path', () => {
  it.each([
    '/svc/scenarios/..%2f..%2fetc%2fpasswd/contract',
    '/svc/scenarios/a%00b/contract',
    '/svc/scenarios/%0d%0ax-evil:%201/contract',
    '/svc/scenarios/kept/records/..%2f..%2fkept',
    '/svc/scenarios/kept/records/%00',
    `/svc/scenarios/${'a'.repeat(201)}/records`,
    `/svc/scenarios/${'%F0%9F%90%9F'.repeat(3000)}/contract`,
    `/svc/scenarios/kept/records/${'x'.repeat(20_000)}`,
    '/svc/scenarios/kept/records/%ff',
    '/svc/harness/releases/../../status',
  ])('%s names nothing', async (path) => {
    const answer = await here.get(path)
    expect(answer.status).toBe(404)
    expect(answer.headers['x-evil']).toBeUndefined()
    expect(answer.json).toMatchObject({ error: { type: 'not_found_error' } })
  })

  it('with a backslash is refused, in our words', async () => {
    const answer = await sendRaw(here.address, requestHead('GET', '/svc/scenarios/a\\..\\b/contract', []))
    expect(answer).toMatch(/^HTTP\/1\.1 40[04][\s\S]*x-request-id/)
  })
})
