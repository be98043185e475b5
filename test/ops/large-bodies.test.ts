/** One large body blocks no other request: others are answered while it is read, checked, forwarded and stored. */
import { beforeAll, describe, expect, it } from 'vitest'
import { sharedWorld, type Answer } from '../support/world.ts'

const MIB = 1024 * 1024
const here = sharedWorld({ backend: 'sqlite' })
beforeAll(async () => {
  await here.exchange('large')
})

const NAMED = { 'x-svc-scenario': 'large' }
const filled = (head: string, piece: string, tail: string, bytes: number): Buffer =>
  Buffer.from(head + piece.repeat((bytes - head.length - tail.length - 1) / piece.length) + tail)
const DEEP = 100_000

const BODIES: readonly (readonly [string, string, Buffer, number])[] = [
  ['a chat of empty objects', '/v1/chat/completions', filled('{"model":"m","messages":[', '{},', '0]}', 12 * MIB), 200],
  [
    'a chat of lists in lists',
    '/v1/chat/completions',
    filled('{"model":"m","messages":[', `${'['.repeat(DEEP)}${']'.repeat(DEEP)},`, '0]}', 8 * MIB),
    200,
  ],
  ['a chat that is cut off', '/v1/chat/completions', filled('{"model":"m","messages":[', '{},', '{', 12 * MIB), 400],
  ['an import of empty objects', '/svc/records/batch', imported(6 * MIB), 200],
  ['a report of empty objects', '/svc/report', filled('{"metadata":{"a":[', '{},', '0]}}', 4 * MIB), 200],
]

function imported(bytes: number): Buffer {
  return filled('{"records":[{"agent_record_id":"i","request_type":"inference","payload":{"a":[', '{},', '0]}}]}', bytes)
}

/** How often others were answered until the large one was. */
async function answersMeanwhile(large: Promise<Answer>): Promise<number> {
  const state = { isOver: false }
  void large.finally(() => (state.isOver = true))
  let answers = 0
  while (!state.isOver) {
    const { status } = await here.get('/healthz')
    expect(status).toBe(200)
    answers += 1
  }
  return answers
}

describe('while a large body is served', () => {
  it.each(BODIES)('others are answered: %s', async (_, path, body, status) => {
    const large = here.post(path, body, NAMED)
    expect(await answersMeanwhile(large)).toBeGreaterThan(10)
    expect((await large).status).toBe(status)
  })

  it('what is nested deeper than anyone could walk is a 400', async () => {
    const depth = MIB / 4
    const answer = await here.post('/v1/responses', `{"input":${'['.repeat(depth)}${']'.repeat(depth)}}`, NAMED)
    expect([answer.status, answer.json]).toMatchObject([400, { error: { code: 'nested_too_deep' } }])
  })

  it('its tags and its own response are told apart without printing it', async () => {
    const body = filled('{"model":"m","response":1,"metadata":{"n":1.0,"tags":{"a":"b"}},"messages":[', '{},', '0]}', MIB)
    const answer = await here.post('/v1/chat/completions', body, { ...NAMED, 'x-svc-tag-task': 't' })
    const kept = await here.get(`/svc/scenarios/large/records/${String(answer.headers['x-svc-agent-record-id'])}`)
    expect(kept.json).toMatchObject({ payload: { model: 'm', response: answer.json, metadata: { n: 1, tags: { a: 'b', task: 't' } } } })
    expect(kept.text).toContain('"metadata":{"n":1.0,"tags":{"a":"b","task":"t"}}')
    expect(here.upstream.received.at(-1)?.body.equals(body)).toBe(true)
  })
})
