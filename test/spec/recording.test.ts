/** How much of the traffic is stored: per deployment, per scenario and per request. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { answerPlainly, chatFrames, sendFrames } from '../support/upstream.ts'
import { sharedWorld } from '../support/world.ts'
import { expectRefusal, inference, named, recordIds } from './support/helpers.ts'

const here = sharedWorld({
  backend: 'sqlite',
  settings: { 'recording.scenarios.brief.mode': 'metadata', 'recording.scenarios.silent.mode': 'off' },
})

const SECRET = 'zanzibar-eleven'
const BODY = { model: 'm', messages: [{ role: 'user', content: SECRET }] }

async function ask(scenario: string, headers: Readonly<Record<string, string>> = {}) {
  here.upstream.answer(answerPlainly)
  return here.post('/v1/chat/completions', BODY, { ...named(scenario), ...headers })
}

/** Every byte that the service keeps, the log of the database included. */
function onDisk(): string {
  const files = readdirSync(here.directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)).toString('latin1')).join('\n')
}

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

  it('never stores more, and must be a mode [recording.header]', async () => {
    expect((await ask('silent', { 'x-svc-recording': 'full' })).headers['x-svc-recording']).toBe('off')
    expect((await ask('brief', { 'x-svc-recording': 'full' })).headers['x-svc-recording']).toBe('metadata')
    expectRefusal(await ask('open', { 'x-svc-recording': 'some' }), 400, 'invalid_field')
  })
})
