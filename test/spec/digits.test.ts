/** What a client sends as a number or as text is kept as it was sent: stored, read back, exported, imported again and compared. */
import { describe, expect, it } from 'vitest'
import { sharedWorld, type Answer } from '../support/world.ts'
import { expectRefusal, named } from './support/helpers.ts'

const backends = ['memory', 'sqlite'] as const

const LITERALS = [
  '1763251200123456789',
  '-9007199254740993',
  '1.0',
  '1e400',
  '9'.repeat(400),
  '0.1000000000000000055511151231257827021181583404541015625',
  '"\\ud83d"',
  '{"\\udc00":[1E2,"\\u0041"]}',
]

const payloadIn = (text: string): string => text.slice(text.indexOf('"payload":') + '"payload":'.length, -1)

describe.each(backends)('on %s', (backend) => {
  const here = sharedWorld({ backend })

  const read = async (scenario: string, id: string): Promise<string> => (await here.get(`/svc/scenarios/${scenario}/records/${id}`)).text
  const imported = (scenario: string, id: string, payload: string, type = 'inference'): Promise<Answer> =>
    here.post('/svc/records', `{"agent_record_id":"${id}","request_type":"${type}","payload":${payload}}`, named(scenario))

  it.each(LITERALS.map((literal, at) => [literal.slice(0, 30), literal, at] as const))(
    'metadata and payloads keep %s',
    async (_, literal, at) => {
      const scenario = `kept-${at}`
      const report = `{"agent_record_id":"r","feedback":{"b":${literal}},"metadata":{"a":${literal}}}`
      expect((await here.post('/svc/report', report, named(scenario))).status).toBe(200)
      expect(payloadIn(await read(scenario, 'r'))).toBe(`{"feedback":{"b":${literal}},"metadata":{"a":${literal}}}`)
      expect((await here.post('/svc/report', report, named(scenario))).status).toBe(200)

      const served = await here.post('/v1/chat/completions', `{"seed":${literal},"response":0}`, named(scenario))
      const payload = payloadIn(await read(scenario, String(served.headers['x-svc-agent-record-id'])))
      expect(payload).toContain(`"seed":${literal},"response":`)
      expect((await imported(scenario, 'again', payload)).status).toBe(200)
      expect(payloadIn(await read(scenario, 'again'))).toBe(payload)
      expect((await imported(scenario, 'again', payload)).status).toBe(200)
      const copied = payloadIn(await read(scenario, 'r'))
      expect((await imported(scenario, 'report-again', copied, 'report')).status).toBe(200)
      expect(payloadIn(await read(scenario, 'report-again'))).toBe(copied)
    },
  )

  it('a batch and its tags keep them too', async () => {
    const record = '{"agent_record_id":"b","request_type":"inference","payload":{"metadata":{"n":1763251200123456789},"x":1.0}}'
    const headers = { ...named('tagged'), 'x-svc-tag-task': 't' }
    expect((await here.post('/svc/records/batch', `{"records":[${record}]}`, headers)).status).toBe(200)
    expect(payloadIn(await read('tagged', 'b'))).toBe('{"x":1.0,"metadata":{"n":1763251200123456789,"tags":{"task":"t"}}}')
  })

  it.each([
    ['{"a":1.0,"b":1e2}', '{"b":100,"a":1}', 200],
    ['{"a":12345678901234567890}', '{ "a" : 12345678901234567890.0 }', 200],
    ['{"a":"\\ud83d"}', '{"a":"\\uD83D"}', 200],
    ['{"a":12345678901234567890}', '{"a":12345678901234567891}', 409],
    ['{"a":1e400}', '{"a":1e401}', 409],
    ['{"a":"\\ud83d"}', '{"a":"\\ud83e"}', 409],
  ])('%s and then %s under one id is %i', async (first, second, status) => {
    const scenario = `same-${first.length}-${second.length}-${status}-${first.charCodeAt(5)}`
    expect((await imported(scenario, 'x', first)).status).toBe(200)
    const answer = await imported(scenario, 'x', second)
    if (status === 409) expectRefusal(answer, 409, 'record_conflict')
    else expect(answer.status).toBe(200)
    expect(payloadIn(await read(scenario, 'x'))).toBe(first)
  })
})
