/** What an operator reads: one line per request, numbers a monitor understands, and never a secret. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/contract/index.ts'
import { runCommand, serveCommand } from '../support/command.ts'
import { makePlace } from '../support/place.ts'
import { sendJson } from '../support/upstream.ts'
import { send, type Answer } from '../support/world.ts'

const TOKEN = 'canary-service-token-8f3a'
const UPSTREAM_KEY = 'canary-upstream-key-91cc'
const SCENARIO_KEY = 'canary-scenario-key-77de'
const WRONG = 'canary-wrong-token-02bb'
const secrets = [TOKEN, UPSTREAM_KEY, SCENARIO_KEY, WRONG]
const environment = { SVC_TOKEN: TOKEN, SVC_UPSTREAM_API_KEY: UPSTREAM_KEY }
const pass = { authorization: `Bearer ${TOKEN}` }
const named = { ...pass, 'x-svc-scenario': 'seen' }
const chat = { model: 'm', messages: [] }

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
  readonly status: number
  readonly scenario?: string
  /** Its path without the query, unless it is given. */
  readonly route?: string
}

const RECORDS = '/svc/scenarios/:scenario/records'
/** Every kind of end a request can have. */
const requests: readonly Asked[] = [
  { method: 'GET', path: '/healthz', status: 200 },
  { method: 'POST', path: '/v1/chat/completions', headers: named, body: chat, status: 200, scenario: 'seen' },
  { method: 'POST', path: '/v1/messages?beta=true', headers: named, body: chat, status: 200, scenario: 'seen' },
  { method: 'POST', path: '/svc/report', headers: named, body: { score: 1 }, status: 200, scenario: 'seen' },
  { method: 'POST', path: '/svc/report', headers: named, body: '{"score":', status: 400, scenario: 'seen' },
  { method: 'GET', path: '/svc/scenarios/seen/records', headers: pass, route: RECORDS, status: 200, scenario: 'seen' },
  { method: 'GET', path: '/svc/status', headers: { authorization: `Bearer ${WRONG}` }, status: 401 },
  { method: 'GET', path: `/svc/status?token=${WRONG}`, headers: pass, status: 401 },
  { method: 'GET', path: '/nowhere/at/all', headers: pass, route: 'unknown', status: 404 },
  { method: 'DELETE', path: '/svc/status', headers: pass, route: 'unknown', status: 405 },
]

it('the log holds one JSON line per request with its id, route, status, time, scenario and receipt [decisions.errors-request-id]', async () => {
  const place = await makePlace()
  const { command, address } = await serveCommand(place.args(), environment)
  const answers: Answer[] = []
  for (const { method, path, headers = {}, body } of requests)
    answers.push(await send(address, method, path, { headers, ...(body !== undefined && { body }) }))
  const streamed = await send(address, 'POST', '/v1/chat/completions', { headers: named, body: { ...chat, stream: true } })
  command.signal('SIGTERM')
  const lines = requestLines((await command.ended).err)
  expect(lines).toHaveLength(requests.length + 1)
  for (const [index, { method, path, route = path.split('?')[0], status, scenario }] of requests.entries()) {
    const receipt = answers[index]?.headers['x-svc-agent-record-id']
    const id = answers[index]?.headers['x-request-id']
    const expected = { method, route, status, ms: expect.any(Number), ...(scenario !== undefined && { scenario }) }
    expect(lines.find((one) => one['id'] === id)).toMatchObject({ ...expected, ...(receipt !== undefined && { receipt }) })
  }
  const receipt = /"svc.agent_record_id":"(\w+)"/.exec(streamed.text)?.[1]
  expect(lines.find((line) => line['id'] === streamed.headers['x-request-id'])).toMatchObject({ receipt, status: 200 })
})

it('a secret appears in no log line, answer, record, error, status, metric or printed configuration [decisions.errors-message] [config.print]', async () => {
  const place = await makePlace()
  const { command, address } = await serveCommand(place.args(), environment)
  const spoken: string[] = []
  const ask = async (method: string, path: string, headers: Readonly<Record<string, string>> = named, body?: object): Promise<void> => {
    const answer = await send(address, method, path, { headers, ...(body !== undefined && { body }) })
    spoken.push(JSON.stringify(answer.headers), answer.text)
  }
  await ask('POST', '/svc/scenarios', pass, { name: 'seen', model: { url: place.upstream.url, api_key: SCENARIO_KEY } })
  for (const { method, path, headers, body } of requests) if (typeof body !== 'string') await ask(method, path, headers, body)
  await ask('POST', '/v1/chat/completions', { ...pass, 'x-svc-scenario': 'other' }, { ...chat, stream: true })
  place.upstream.answer((_received, response) => sendJson(response, 500, { error: { message: 'broken' } }))
  await ask('POST', '/v1/responses', named, { model: 'm', input: 'x' })
  place.upstream.answer((_received, response) => void response.destroy())
  await ask('POST', '/v1/responses', named, { model: 'm', input: 'x' })
  await ask('POST', '/svc/scenarios/seen/update', pass, { model: { url: `http://user:${SCENARIO_KEY}@127.0.0.1` } })
  for (const path of ['/svc/scenarios', '/svc/status', '/metrics', '/svc/scenarios/seen/releases', '/svc/scenarios/seen/contract'])
    await ask('GET', path)
  command.signal('SIGTERM')
  const { out, err, code } = await command.ended
  const printed = await runCommand(['serve', ...place.args(), '--print-config'], environment)
  const json = await runCommand(['config', 'print', '--json', ...place.args()], environment)
  expect([code, printed.code, json.code]).toEqual([0, 0, 0])
  const everything = [out, err, ...spoken, printed.out, printed.err, json.out, ...databaseFiles(place.records)]
  for (const secret of secrets) expect(everything.filter((text) => text.includes(secret))).toEqual([])
  const sentUpstream = place.upstream.received.map(({ headers }) => JSON.stringify(headers))
  expect(sentUpstream.some((text) => text.includes(SCENARIO_KEY)) && sentUpstream.some((text) => text.includes(UPSTREAM_KEY))).toBe(true)
  expect(sentUpstream.filter((text) => text.includes(TOKEN))).toEqual([])
})

/** Everything the store wrote; a scenario's own key lies in a file beside, which only the owner may read. */
function databaseFiles(records: string): readonly string[] {
  return readdirSync(records)
    .filter((name) => name.startsWith('records.'))
    .map((name) => readFileSync(join(records, name), 'latin1'))
}

function requestLines(err: string): readonly JsonObject[] {
  return err
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): Json => JSON.parse(line))
    .filter(isObject)
    .filter(({ event }) => event === 'request')
}
