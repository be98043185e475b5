/** A stored request asked once more: of the same model and of another, in every format, without a trace in the records. */
import { beforeAll, expect, test } from 'vitest'
import { named, rowsOf, textAt } from '../../../test/spec/support/helpers.ts'
import { sharedWorld } from '../../../test/support/world.ts'
import { typeCommand, type FakeTerminal } from '../testing/surroundings.ts'

const here = sharedWorld()
const type = (args: readonly string[], terminal?: FakeTerminal) => typeCommand(here.address, ['replay', ...args], terminal)
const asked = { messages: [{ role: 'user', content: 'What is 2 + 2?' }] }
let receipt = ''
const sent = async (path: string, body: object): Promise<string> => {
  await here.post(path, body, { ...named('support'), 'x-svc-tag-session': 's1' })
  const [newest = {}] = rowsOf(await here.get('/svc/scenarios/support/records?order=newest&limit=1'), 'records')
  return textAt(newest, 'agent_record_id')
}
beforeAll(async () => {
  receipt = await sent('/v1/chat/completions', { model: 'm', temperature: 0, metadata: { mine: 'yes' }, ...asked })
})
const count = async (): Promise<number> =>
  Number(Object((await here.get('/svc/scenarios/support/records?limit=100')).json['records']).length)

test('both answers are shown, the same request was asked, and nothing was stored', async () => {
  const before = await count()
  const { exit, out } = await type([receipt])
  expect(exit).toBe(0)
  expect(out).toMatch(/^stored: m, release [0-9a-f]{8}/)
  expect(out).toMatch(/^now: m/m)
  expect(JSON.parse(String(here.upstream.received.at(-1)?.body))).toEqual({
    model: 'm',
    temperature: 0,
    metadata: { mine: 'yes' },
    ...asked,
  })
  expect(await count()).toBe(before)
})

test('another model is asked by its name, beside the stored answer on a wide screen', async () => {
  const { out } = await type([receipt, '--model', 'other'], { width: 120 })
  expect(out).toMatch(/^stored: m.* │ now: other/)
  expect(JSON.parse(String(here.upstream.received.at(-1)?.body))).toMatchObject({ model: 'other' })
  expect(JSON.parse((await type([receipt, '--model', 'other', '--json'])).out)).toMatchObject({
    record: receipt,
    model: 'other',
    stored: { object: 'chat.completion' },
    replayed: { object: 'chat.completion' },
  })
})

test.each([
  ['/v1/messages', { model: 'm', max_tokens: 9, ...asked }],
  ['/v1/responses', { model: 'm', input: 'What is 2 + 2?' }],
  ['/v1/chat/completions', { model: 'm', stream: true, stream_options: { include_usage: true }, ...asked }],
])('an exchange of %s is asked again, whole', async (path, body) => {
  const { exit, out } = await type([await sent(path, body)])
  expect(exit).toBe(0)
  expect(out).toMatch(/^now: m/m)
  const last = here.upstream.received.at(-1)
  expect(last?.url).toBe(path)
  expect(JSON.parse(String(last?.body))).not.toHaveProperty('stream')
})

test('what is no exchange is not asked', async () => {
  const report = await here.post('/svc/report', { score: 1, references: [receipt] }, named('support'))
  expect(await type([textAt(report.json, 'agent_record_id')])).toMatchObject({
    exit: 2,
    err: [expect.stringContaining('only an exchange')],
  })
  expect(await type(['nowhere'])).toMatchObject({ exit: 1, out: '' })
})
