/** How much of the traffic is stored: per deployment, per scenario and per request. */
import { readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { answerPlainly, beginFrames, breakOffAfter, chatFrames, sendFrames } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { ownWorld, sharedWorld } from '../support/world.ts'
import { expectRefusal, inference, named, recordIds } from './support/helpers.ts'

const here = sharedWorld({
  backend: 'sqlite',
  settings: {
    'recording.scenarios.brief.mode': 'metadata',
    'recording.scenarios.silent.mode': 'off',
    'recording.scenarios.careful.mode': 'redacted',
    'storage.keep_raw_streams': true,
  },
})

const SECRET = 'zanzibar-eleven'
const BODY = { model: 'm', messages: [{ role: 'user', content: SECRET }] }

async function ask(scenario: string, headers: Readonly<Record<string, string>> = {}) {
  here.upstream.answer(answerPlainly)
  return here.post('/v1/chat/completions', BODY, { ...named(scenario), ...headers })
}

/** Every byte that the service keeps, the log of the database included. */
function onDisk(directory = here.directory): string {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)).toString('latin1')).join('\n')
}

const EMAIL = 'zoe.q@example.org'
const CARD = '4111 1111 1111 1111'
const data = (event: object): string => `data: ${JSON.stringify(event)}\n\n`
const event = (said: { readonly type: string } & Readonly<Record<string, unknown>>): string => `event: ${said.type}\n${data(said)}`

const ITEM = { id: 'i', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: `Ask ${EMAIL}`, annotations: [] }] }
const RESPONSE = { id: 'r', object: 'response', created_at: 1, model: 'm' }

/** Each answers with the address in pieces, over events and in the arguments of a tool. */
const SPLIT: readonly (readonly [string, object, readonly string[]])[] = [
  [
    '/v1/chat/completions',
    { model: 'm', messages: [], stream: true },
    [
      ...['Ask zoe', '.q@exa', 'mple.org.'].map((content) => data({ choices: [{ index: 0, delta: { content } }] })),
      data({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 't', function: { name: 'f', arguments: '{"to":"zoe\\' } }] } }] }),
      data({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: 'u002eq@example.org"}' } }] } }] }),
      data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      'data: [DONE]\n\n',
    ],
  ],
  [
    '/v1/messages',
    { model: 'm', messages: [], max_tokens: 9, stream: true },
    [
      event({ type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [], model: 'm', usage: {} } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...['Ask zoe.q', '@exam', 'ple.org'].map((text) =>
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
      ),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }),
      event({ type: 'message_stop' }),
    ],
  ],
  [
    '/v1/responses',
    { model: 'm', input: 'x', stream: true },
    [
      event({ type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] } }),
      event({ type: 'response.output_item.added', output_index: 0, item: { ...ITEM, content: [] } }),
      ...['Ask zoe', '.q@exam', 'ple.org'].map((delta) =>
        event({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta }),
      ),
      event({ type: 'response.completed', response: { ...RESPONSE, status: 'completed', output: [ITEM] } }),
    ],
  ],
  [
    '/v1beta/models/m:streamGenerateContent?alt=sse',
    { contents: [] },
    ['Ask zoe', '.q@example', '.org'].map((text, at) =>
      data({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...(at === 2 && { finishReason: 'STOP' }) }] }),
    ),
  ],
]

describe('redacted', () => {
  it.each(SPLIT)(
    'takes out what came in pieces on %s, and changes no byte of it for the client [recording.redacted]',
    async (path, body, frames) => {
      here.upstream.answer((_received, response) => sendFrames(response, frames))
      const { text, headers } = await here.post(path, body, named('careful'))
      for (const frame of frames.slice(0, -1)) expect(text).toContain(frame)
      expect(headers['x-svc-recording']).toBe('redacted')
      const id = /"svc\.agent_record_id":"([0-9a-f]+)"/.exec(text)?.[1] ?? ''
      const record = await here.get(`/svc/scenarios/careful/records/${id}`)
      expect(record.text).toContain('Ask [email 1]')
      for (const part of ['zoe', 'example.org']) expect(onDisk()).not.toContain(part)
    },
  )

  it.each(SPLIT)(
    'of a stream on %s that broke off within an address keeps no half of it [recording.redacted]',
    async (path, body, frames) => {
      const before = (await recordIds(here, 'careful')).length
      const begun = frames.slice(0, frames.findIndex((frame) => /@exa/.test(frame)) + 1).map((frame) => frame.replace('zoe', 'yolanda'))
      here.upstream.answer(breakOffAfter(begun.map((frame) => frame.replace('Ask ', 'Hello. Ask '))))
      await here.post(path, body, named('careful')).catch(() => undefined)
      await until(async () => (await recordIds(here, 'careful')).length > before)
      const record = await here.get(`/svc/scenarios/careful/records/${(await recordIds(here, 'careful')).at(-1)}`)
      expect(record.text).toContain('"complete":false')
      expect(record.text).toContain('"Hello. "')
      for (const part of ['yolanda', '@exa']) expect(onDisk()).not.toContain(part)
    },
  )

  it('takes out what is cut at any byte, also within a letter and between frames [recording.redacted]', async () => {
    const address = 'zoë.quux@example.org'
    const bytes = Buffer.from(Array.from(`Ask ${address}.`, (content) => data({ choices: [{ index: 0, delta: { content } }] })).join(''))
    for (const size of [1, 7, 64, 65, 66]) {
      here.upstream.answer(async (_received, response) => {
        beginFrames(response, [])
        for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
        response.end(`${data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`)
      })
      const { text } = await here.post('/v1/chat/completions', { model: 'm', messages: [], stream: true }, named('careful'))
      const id = /"svc\.agent_record_id":"([0-9a-f]+)"/.exec(text)?.[1] ?? ''
      expect((await here.get(`/svc/scenarios/careful/records/${id}`)).text).toContain('Ask [email 1]')
    }
    expect(onDisk()).not.toContain('quux')
  })

  it('takes out of a translated stream what came in pieces of the upstream [recording.redacted]', async () => {
    const there = await ownWorld({
      backend: 'sqlite',
      settings: { 'recording.mode': 'redacted', 'inference.upstream_url': here.upstream.url, 'inference.upstream_formats': '[messages]' },
    })
    here.upstream.answer((_received, response) => sendFrames(response, SPLIT.find(([path]) => path === '/v1/messages')?.[2] ?? []))
    const { text } = await there.post(
      '/v1/chat/completions',
      { model: 'm', messages: [{ role: 'user', content: 'x' }], stream: true },
      named('s'),
    )
    expect(text).toContain('Ask zoe.q')
    const [id = ''] = await recordIds(there, 's')
    expect((await there.get(`/svc/scenarios/s/records/${id}`)).text).toContain('Ask [email 1]')
    expect(onDisk(there.directory)).not.toContain('zoe')
  })

  it('takes out of requests, answers, reports, imports and long bodies before the disk, the same each time [recording.redacted]', async () => {
    here.upstream.answer((received, response) => {
      expect(received.body.toString()).toContain(CARD)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', choices: [], echo: EMAIL }))
    })
    const filler = 'lorem ipsum '.repeat(40_000)
    const whole = { model: 'm', messages: [{ role: 'user', content: `${filler} pay with ${CARD} for ${EMAIL}` }] }
    const answer = await here.post('/v1/chat/completions', whole, { ...named('careful'), 'x-svc-tag-user': 'u7' })
    expect(answer.text).toContain(EMAIL)
    const id = String(answer.headers['x-svc-agent-record-id'])
    const { json } = await here.get(`/svc/scenarios/careful/records/${id}`)
    const content = `${filler} pay with [card 1] for [email 1]`
    expect(json['payload']).toEqual({
      ...whole,
      messages: [{ role: 'user', content }],
      metadata: { tags: { user: 'u7' } },
      response: { id: 'x', choices: [], echo: '[email 1]' },
    })
    const report = { agent_record_id: 'r1', references: [id], feedback: `tell ${EMAIL}` }
    for (const _ of [1, 2]) expect((await here.post('/svc/report', report, named('careful'))).status).toBe(200)
    const imported = inference('i1', { messages: [{ role: 'user', content: EMAIL }] })
    for (const _ of [1, 2]) expect((await here.post('/svc/records', imported, named('careful'))).status).toBe(200)
    expect((await here.get('/svc/scenarios/careful/records/r1')).json).toMatchObject({ payload: { feedback: 'tell [email 1]' } })
    expect((await here.get('/svc/scenarios/careful/records/i1')).json).toMatchObject({ payload: { messages: [{ content: '[email 1]' }] } })
    for (const part of [EMAIL, CARD]) expect(onDisk()).not.toContain(part)
  })

  it('takes the words of a broken stream out of the log too [recording.redacted]', async () => {
    const failing = data({ error: { message: `no account for ${EMAIL}` } })
    here.upstream.answer((_received, response) => sendFrames(response, [failing, 'data: [DONE]\n\n']))
    const answer = await here.post('/v1/chat/completions', { model: 'm', messages: [], stream: true }, named('careful'))
    expect(answer.text).toContain(EMAIL)
    await until(() => here.log.some(({ cause }) => typeof cause === 'string' && cause.includes('no account for [email 1]')))
    expect(JSON.stringify(here.log)).not.toContain(EMAIL)
  })
})

describe('metadata', () => {
  it('lists the record with everything but its words, which never reach the disk [recording.metadata]', async () => {
    const answer = await ask('brief', { 'x-svc-tag-user': 'u7', 'x-svc-tag-session': 's1' })
    const id = String(answer.headers['x-svc-agent-record-id'])
    expect(answer.headers['x-svc-recording']).toBe('metadata')
    const { json } = await here.get('/svc/scenarios/brief/records')
    expect(json).toMatchObject({ records: [{ agent_record_id: id, summary: { session: 's1', model: expect.any(String) } }] })
    expectRefusal(await here.get(`/svc/scenarios/brief/records/${id}`), 404, 'record_not_kept')
    expect(onDisk()).not.toContain(SECRET)
  })

  it('keeps the score of a report and what it quotes, and none of its feedback [recording.metadata]', async () => {
    const id = String((await ask('brief')).headers['x-svc-agent-record-id'])
    const report = { agent_record_id: 'judged', score: 0.5, feedback: SECRET, references: [id], metadata: { note: SECRET } }
    expect((await here.post('/svc/report', report, named('brief'))).status).toBe(200)
    expect((await here.post('/svc/report', report, named('brief'))).json).toMatchObject({ agent_record_id: 'judged' })
    const { json } = await here.get('/svc/scenarios/brief/records?request_type=report')
    expect(json).toMatchObject({ records: [{ agent_record_id: 'judged', score: 0.5, references: [id] }] })
    expect(onDisk()).not.toContain(SECRET)
  })

  it('keeps the tags of headers, and nothing else that a body has under their names [recording.metadata]', async () => {
    here.upstream.answer(answerPlainly)
    const body = { ...BODY, metadata_tags: SECRET, metadata: { tags: { note: { said: SECRET }, plan: 'gold', long: SECRET.repeat(99) } } }
    await here.post('/v1/chat/completions', body, { ...named('brief'), 'x-svc-tag-user': 'u8' })
    const own = { ...BODY, metadata_tags: { said: [SECRET] } }
    await here.post('/v1/chat/completions', own, { ...named('brief'), 'x-svc-tag-user': 'u9' })
    expect(onDisk()).not.toContain(SECRET)
    const { text } = await here.get('/svc/scenarios/brief/records?order=newest&limit=2&excerpts=yes')
    for (const tag of ['"plan":"gold"', '"user":"u8"', '"user":"u9"']) expect(text).toContain(tag)
  })

  it('logs no word of an upstream that broke off [recording.metadata]', async () => {
    const failing = data({ error: { message: `cannot answer ${SECRET}` } })
    here.upstream.answer((_received, response) => sendFrames(response, [failing, 'data: [DONE]\n\n']))
    await here.post('/v1/chat/completions', { ...BODY, stream: true }, named('brief'))
    await until(() => here.log.some(({ cause }) => typeof cause === 'string' && cause.includes('its words are not recorded')))
    expect(JSON.stringify(here.log)).not.toContain(SECRET)
  })

  it('holds for a stream too, whose bytes the client gets as they came [recording.metadata]', async () => {
    here.upstream.answer((_received, response) => sendFrames(response, chatFrames))
    const answer = await here.post('/v1/chat/completions', { ...BODY, stream: true }, named('brief'))
    for (const frame of chatFrames) expect(answer.text).toContain(frame)
    expect(answer.text).toContain('"svc.agent_record_id"')
    expect(onDisk()).not.toContain(SECRET)
  })
})

describe('off', () => {
  it('stores nothing, and the answer says so in place of a receipt [recording.off]', async () => {
    const answer = await ask('silent', { 'x-svc-agent-record-id': 'mine' })
    expect([answer.status, answer.headers['x-svc-recording'], answer.headers['x-svc-agent-record-id']]).toEqual([200, 'off', undefined])
    expect(await recordIds(here, 'silent')).toEqual([])
    here.upstream.answer((_received, response) => sendFrames(response, chatFrames))
    const streamed = await here.post('/v1/chat/completions', { ...BODY, stream: true }, named('silent'))
    expect(streamed.text).toBe(chatFrames.join(''))
    expect(await recordIds(here, 'silent')).toEqual([])
  })

  it('refuses what would have to be stored [recording.off]', async () => {
    expectRefusal(await here.post('/svc/report', { score: 1 }, named('silent')), 501, 'recording_off')
    expectRefusal(await here.post('/svc/records', inference('x'), named('silent')), 501, 'recording_off')
    expect(await recordIds(here, 'silent')).toEqual([])
  })
})

const refusing = (_received: unknown, response: ServerResponse): void => {
  const error = { message: `no ${EMAIL}`, type: EMAIL, code: `unknown_${EMAIL}` }
  response.writeHead(404, { 'content-type': 'application/json', 'x-request-id': `req ${EMAIL}` }).end(JSON.stringify({ error }))
}
const lineOf = (scenario: string) => here.log.findLast((line) => line['event'] === 'request' && line['scenario'] === scenario)

describe('what an upstream names [recording.redacted] [recording.metadata] [recording.off]', () => {
  it.each([
    ['careful', { code: '[email 1]', upstream_id: 'req [email 1]' }],
    ['brief', { code: 'upstream_refused', upstream_id: undefined }],
    ['silent', { code: 'upstream_refused', upstream_id: undefined }],
  ])('is logged of a failed call of %s as far as it is recorded', async (scenario, logged) => {
    here.upstream.answer(refusing)
    expect((await here.post('/v1/chat/completions', BODY, named(scenario))).text).toContain(`unknown_${EMAIL}`)
    await until(() => lineOf(scenario)?.['upstream_status'] === 404)
    expect(lineOf(scenario)).toMatchObject({ code: logged.code })
    expect(lineOf(scenario)?.['upstream_id']).toBe(logged.upstream_id)
    expect(lineOf(scenario)?.['cause']).toBeUndefined()
    expect(JSON.stringify(here.log)).not.toContain(EMAIL)
  })

  it.each(['careful', 'brief'])('as its model is in the list of the records of %s without personal data', async (scenario) => {
    here.upstream.answer((_received, response) => {
      const headers = { 'content-type': 'application/json', 'x-request-id': `req ${EMAIL}` }
      response.writeHead(200, headers).end(JSON.stringify({ id: 'x', model: `of ${EMAIL}`, choices: [] }))
    })
    expect((await here.post('/v1/chat/completions', BODY, named(scenario))).text).toContain(EMAIL)
    const { text } = await here.get(`/svc/scenarios/${scenario}/records?order=newest&limit=1`)
    expect(text).toContain('"model":"of [email 1]"')
    expect(onDisk()).not.toContain(EMAIL)
    expect(JSON.stringify(here.log)).not.toContain(EMAIL)
  })

  it('and an unknown path are logged as far as calls of the scenario that the request names are recorded', async () => {
    for (const scenario of ['careful', 'brief', 'silent']) await here.get(`/users/${EMAIL}`, named(scenario))
    await until(() => here.log.filter((line) => line['code'] === 'unknown_route').length >= 3)
    const paths = here.log.filter((line) => line['code'] === 'unknown_route').map((line) => line['path'])
    expect(paths).toEqual(['/users/[email 1]', undefined, undefined])
  })
})

describe('the header of a request', () => {
  it('stores less than the scenario does, for that request alone [recording.header] [recording.full]', async () => {
    const whole = await ask('open')
    expect(whole.headers['x-svc-recording']).toBeUndefined()
    const less = await ask('open', { 'x-svc-recording': 'metadata' })
    const none = await ask('open', { 'x-svc-recording': 'off' })
    expect(await recordIds(here, 'open')).toEqual([whole, less].map(({ headers }) => headers['x-svc-agent-record-id']))
    expect((await here.get(`/svc/scenarios/open/records/${String(whole.headers['x-svc-agent-record-id'])}`)).text).toContain(SECRET)
    expectRefusal(await here.get(`/svc/scenarios/open/records/${String(less.headers['x-svc-agent-record-id'])}`), 404, 'record_not_kept')
    expect(none.headers['x-svc-recording']).toBe('off')
  })

  it('holds for reports and imports too [recording.header]', async () => {
    const less = { ...named('wary'), 'x-svc-recording': 'redacted' }
    expect((await here.post('/svc/records', inference('w1', { messages: [{ role: 'user', content: EMAIL }] }), less)).status).toBe(200)
    const report = { agent_record_id: 'w2', references: ['w1'], score: 1, feedback: SECRET }
    expect((await here.post('/svc/report', report, { ...less, 'x-svc-recording': 'metadata' })).status).toBe(200)
    expectRefusal(await here.post('/svc/report', { score: 1 }, { ...less, 'x-svc-recording': 'off' }), 501, 'recording_off')
    expectRefusal(await here.post('/svc/report', { score: 1 }, { ...less, 'x-svc-recording': 'some' }), 400, 'invalid_field')
    expect((await here.get('/svc/scenarios/wary/records/w1')).json).toMatchObject({ payload: { messages: [{ content: '[email 1]' }] } })
    expectRefusal(await here.get('/svc/scenarios/wary/records/w2'), 404, 'record_not_kept')
    expect(await recordIds(here, 'wary')).toEqual(['w1', 'w2'])
  })

  it('never stores more, and must be a mode [recording.header]', async () => {
    expect((await ask('silent', { 'x-svc-recording': 'full' })).headers['x-svc-recording']).toBe('off')
    expect((await ask('brief', { 'x-svc-recording': 'full' })).headers['x-svc-recording']).toBe('metadata')
    expectRefusal(await ask('open', { 'x-svc-recording': 'some' }), 400, 'invalid_field')
  })
})
