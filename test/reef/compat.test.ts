/** Requests as reef's own clients send them, against a real service. */
import { describe, expect, it } from 'vitest'
import type { Settings } from '../support/settings.ts'
import { ownWorld, type World } from '../support/world.ts'

const TOKEN = 'a-token-of-the-test'

const compatible = (settings: Settings = {}): Promise<World> => ownWorld({ settings: { 'svc.token': TOKEN, ...settings } })

const theirs = (scenario: string, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${TOKEN}`,
  'content-type': 'application/json',
  'X-Reef-Scenario': scenario,
  ...more,
})

const QUESTION = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }

describe('svc.compat: reef', () => {
  it('records an exchange under reef’s headers, hands its receipt out under both names, and takes the report', async () => {
    const here = await compatible({ 'svc.compat': 'reef' })
    const asked = await here.post('/v1/chat/completions', QUESTION, theirs('chat', { 'x-reef-tag-client': 'old' }))
    const receipt = String(asked.headers['x-reef-agent-record-id'])
    expect(asked).toMatchObject({ status: 200, headers: { 'x-svc-agent-record-id': receipt } })
    const reported = await here.post('/reef/report', { score: 1, references: [receipt] }, theirs('chat'))
    expect(reported.json).toMatchObject({ scenario: 'chat', request_type: 'report' })
    const imported = { agent_record_id: 'old-1', request_type: 'inference', payload: {} }
    const batch = await here.post('/reef/records/batch', { records: [imported] }, theirs('chat'))
    expect(batch.json['records']).toEqual([{ agent_record_id: 'old-1', request_type: 'inference', scenario: 'chat' }])
    const record = await here.get(`/reef/scenarios/chat/records/${receipt}?x=/reef/`, theirs('chat'))
    expect(record.json).toMatchObject({ payload: { metadata: { tags: { client: 'old' } } } })
    expect((await here.get('/reef/scenarios', theirs('chat'))).json).toMatchObject({ scenarios: [{ scenario: 'chat' }] })
  })

  it.each([
    ['/v1/chat/completions', QUESTION],
    ['/v1/messages', { ...QUESTION, max_tokens: 5 }],
    ['/v1/responses', { model: 'm', input: 'hi' }],
  ])('puts the receipt into a stream of %s under reef’s key too', async (path, body) => {
    const here = await compatible({ 'svc.compat': 'reef' })
    const { text } = await here.post(path, { ...body, stream: true }, theirs('chat'))
    const events = text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
    const last = events.findLast((event) => event.reef !== undefined)
    expect(last.reef).toEqual({ agent_record_id: expect.stringMatching(/^[0-9a-f]{32}$/) })
    expect(last).toMatchObject({ svc: last.reef, 'svc.agent_record_id': last.reef.agent_record_id })
  })

  it('lets our names go before reef’s, and knows no route that only looks like one', async () => {
    const here = await compatible({ 'svc.compat': 'reef' })
    await here.post('/v1/chat/completions', QUESTION, { ...theirs('theirs'), 'x-svc-scenario': 'ours' })
    expect((await here.get('/svc/scenarios', theirs('x'))).json).toMatchObject({ scenarios: [{ scenario: 'ours' }] })
    expect((await here.get('/reefs/scenarios', theirs('x'))).status).toBe(404)
    expect((await here.get('/reef', theirs('x'))).status).toBe(404)
    expect((await here.get('/reef/scenarios', { 'x-reef-scenario': 'x' })).status).toBe(401)
    const missing = await here.post('/reef/report', { score: 1 }, { authorization: `Bearer ${TOKEN}` })
    expect(missing).toMatchObject({ status: 400, json: { error: { code: 'scenario_missing' } } })
  })

  it('lets a listed browser send and read reef’s headers', async () => {
    const here = await compatible({ 'svc.compat': 'reef', 'svc.console_origins': '["http://console.test:1"]' })
    const asked = {
      origin: 'http://console.test:1',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-reef-scenario',
    }
    const preflight = await here.ask('OPTIONS', '/reef/report', { headers: asked })
    expect(preflight.status).toBe(204)
    expect(preflight.headers['access-control-allow-headers']).toContain('x-reef-scenario')
    expect(preflight.headers['access-control-expose-headers']).toContain('x-reef-agent-record-id')
  })

  it('is off unless it is set', async () => {
    const here = await compatible()
    expect((await here.get('/reef/scenarios', theirs('x'))).status).toBe(404)
    const { status, headers } = await here.post('/v1/chat/completions', QUESTION, { ...theirs('theirs'), 'x-svc-scenario': 'ours' })
    expect([status, headers['x-reef-agent-record-id']]).toEqual([200, undefined])
  })
})
