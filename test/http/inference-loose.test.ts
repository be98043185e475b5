/** Bodies are the provider's to judge: whatever is a JSON object passes, whatever is not is a 400, and nothing is ever a 500. */
import { describe, expect, it } from 'vitest'
import { sharedWorld } from '../support/world.ts'

const here = sharedWorld({ backend: 'sqlite' })

const ROUTES = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/messages/count_tokens']
const DEPTH = 100_000
const deep = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`
const deepObject = `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`

const PASS: readonly (readonly [string, string])[] = [
  ['an empty object', '{}'],
  ['roles no schema lists', '{"messages":[{"role":"system","content":"x"},{"role":"ipython","content":null},{"role":7}]}'],
  ['fields and tool types no schema lists', '{"thinking":{"type":"adaptive"},"tools":[{"type":"namespace"},{"name":"x"}]}'],
  ['no field that a schema requires', '{"temperature":"hot","stream":"yes","messages":{"not":"a list"}}'],
  ['a key that stands twice', '{"model":"a","model":"b","messages":[]}'],
  ['half of a surrogate pair', '{"messages":[{"role":"user","content":"\\ud800"}]}'],
  ['a number beyond the range of a double', '{"temperature":1e999,"seed":-1e999}'],
  ['a number of many digits', `{"seed":${'9'.repeat(400)}}`],
  ['keys that mean something to JavaScript', '{"__proto__":{"x":1},"constructor":1,"toString":2,"hasOwnProperty":3}'],
  ['a null character', '{"input":"\\u0000"}'],
  ['white space around it', ' \n\t{"model":"m"} \r\n'],
  ['arrays nested 100,000 deep', `{"input":${deep}}`],
  ['objects nested 100,000 deep', `{"input":${deepObject}}`],
]

it.each(PASS)(
  'a body with %s is forwarded as it is and kept [decisions.inference-loose] [decisions.inference-bytes]',
  async (_what, body) => {
    for (const path of ROUTES) {
      const answer = await here.post(path, body, { 'x-svc-scenario': 'loose' })
      expect(answer.status).toBe(200)
      expect(here.upstream.received.at(-1)?.body.toString() === body).toBe(true)
      const record = await here.get(`/svc/scenarios/loose/records/${String(answer.headers['x-svc-agent-record-id'])}`)
      expect(record.status).toBe(200)
      expect(record.json).toMatchObject({ request_type: 'inference', payload: { response: answer.json } })
    }
  },
)

const REFUSED: readonly (readonly [string, string | Buffer])[] = [
  ['nothing', ''],
  ['white space alone', ' \n'],
  ['text that is no JSON', 'hello'],
  ['NaN', '{"temperature":NaN}'],
  ['Infinity', '{"temperature":Infinity}'],
  ['a list', '[{}]'],
  ['null', 'null'],
  ['a string', '"{}"'],
  ['a number', '1'],
  ['a comma too many', '{"a":1,}'],
  ['a comment', '{"a":1 /* x */}'],
  ['single quotes', "{'a':1}"],
  ['two objects', '{}{}'],
  ['a cut end', '{"messages":[{"role":"user"'],
  ['a byte order mark', '\ufeff{"model":"m"}'],
  ['a byte that is no UTF-8', Buffer.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')])],
  ['UTF-16', Buffer.from('{"model":"m"}', 'utf16le')],
  ['lists nested without end', '['.repeat(DEPTH)],
  ['objects nested without end', '{"a":'.repeat(DEPTH)],
]

describe('a body that is', () => {
  it.each(REFUSED)('%s is 400 in the shape of its route, and is not forwarded [errors.400-body]', async (_what, body) => {
    const asked = here.upstream.received.length
    for (const path of ROUTES) {
      const answer = await here.post(path, body, { 'x-svc-scenario': 'refused-bodies' })
      expect(answer.status).toBe(400)
      expect(answer.json).toMatchObject({ error: { type: 'invalid_request_error' } })
      expect(answer.json['type']).toBe(path.startsWith('/v1/messages') ? 'error' : undefined)
    }
    expect(here.upstream.received).toHaveLength(asked)
    expect((await here.get('/svc/scenarios/refused-bodies/records')).status).toBe(404)
  })

  it('compressed is 400: it is forwarded as it is, so it must be what it says', async () => {
    const answer = await here.post('/v1/responses', '{}', { 'x-svc-scenario': 's', 'content-encoding': 'gzip' })
    expect([answer.status, answer.json]).toMatchObject([400, { error: { code: 'encoded_body' } }])
  })

  it('sent without a scenario is 400 [inference.scenario-required] [errors.400-scenario]', async () => {
    for (const path of ROUTES) {
      expect((await here.post(path, '{}')).status).toBe(400)
      expect((await here.post(path, '{}', { 'x-svc-scenario': '  ' })).status).toBe(400)
    }
  })
})

it('a body too deep to be printed again is tagged and kept all the same: its own text is never printed', async () => {
  const body = `{"metadata":{"a":1.0},"input":${deep}}`
  const answer = await here.post('/v1/chat/completions', body, { 'x-svc-scenario': 'deep', 'x-svc-tag-task': 't' })
  expect(answer.status).toBe(200)
  const kept = await here.get(`/svc/scenarios/deep/records/${String(answer.headers['x-svc-agent-record-id'])}`)
  expect(kept.text).toContain(`"input":${deep},"metadata":{"a":1.0,"tags":{"task":"t"}},"response":`)
})

describe('an answer of the provider', () => {
  const ODD = [
    '{"id" : "x",\n "choices":[ ], "é": "\\u00e9"}',
    '{"a":1e999}',
    '{"a":"\\ud800"}',
    '{"a":1,"a":2}',
    `{"a":${deep}}`,
    ' {"a":"\\u0000"} \n',
    '{"__proto__":{}}',
  ]

  it.each(ODD.map((body) => [body.slice(0, 20), body] as const))(
    'that is odd comes back as it is and is kept: %s',
    async (_start, body) => {
      here.upstream.answer((_received, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body))
      const answer = await here.post('/v1/chat/completions', '{}', { 'x-svc-scenario': 'odd' })
      expect([answer.status, answer.text === body]).toEqual([200, true])
      const record = await here.get(`/svc/scenarios/odd/records/${String(answer.headers['x-svc-agent-record-id'])}`)
      expect(record.status).toBe(200)
      expect(record.text.endsWith(`"payload":{"response":${body}}}`)).toBe(true)
    },
  )

  it('whose text is no UTF-8 is kept as text all the same', async () => {
    const body = Buffer.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')])
    here.upstream.answer((_received, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body))
    const answer = await here.post('/v1/chat/completions', '{}', { 'x-svc-scenario': 'odd' })
    expect(answer.status).toBe(200)
    expect(answer.bytes).toEqual(body)
    const record = await here.get(`/svc/scenarios/odd/records/${String(answer.headers['x-svc-agent-record-id'])}`)
    expect([record.status, record.json]).toMatchObject([200, { payload: { response: { a: '\ufffd' } } }])
  })
})
