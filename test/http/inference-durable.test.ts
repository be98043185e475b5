/** A record is durable before its receipt is sent: tested with a store whose appends the test blocks. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { unavailable } from '../../src/contract/index.ts'
import { heldStore } from '../fixtures/held-store.ts'
import { openStream, sendAndListen, type Open } from '../support/client.ts'
import { DONE } from '../support/frames.ts'
import { responsesOf } from '../support/kept.ts'
import { answerPlainly, beginFrames, framesOf } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { sharedWorld } from '../support/world.ts'

const here = sharedWorld({ settings: { 'storage.record_backend': './test/fixtures/held-store.ts' } })
beforeAll(async () => void (await here.exchange('held')))
afterEach(() => heldStore().release())

const scenario = { 'x-svc-scenario': 'held' }
const full = unavailable('disk_full', 'the disk of the record store is full; free space and send the request again')

const STREAMS = [
  { path: '/v1/chat/completions', before: '"finish_reason":"stop"', terminal: DONE },
  { path: '/v1/responses', before: 'response.output_item.done', terminal: 'event: response.completed' },
  { path: '/v1/messages', before: 'event: message_delta', terminal: 'event: message_stop' },
]

/** A stream whose record the store holds back. */
async function heldStream(path: string): Promise<Open> {
  heldStore().hold()
  const stream = await openStream(here.address, path, { stream: true }, scenario)
  await heldStore().held()
  return stream
}

describe.each(STREAMS)('a stream of $path', ({ path, before, terminal }) => {
  it('sends everything but its last event while the record is being stored, and that only after [decisions.streams-durable] [inference.receipt-after-store]', async () => {
    const stream = await heldStream(path)
    await stream.seen(before)
    expect(stream.text).not.toContain(terminal)
    expect(stream.text).not.toContain('agent_record_id')
    heldStore().release()
    expect(await stream.over).toBe('ended')
    expect(stream.text).toContain(terminal)
    expect(stream.text).toContain('"svc.agent_record_id"')
  })

  it('is cut off without its last event when the record cannot be stored', async () => {
    const stored = (await responsesOf(here, 'held')).length
    const stream = await heldStream(path)
    heldStore().release(full)
    expect(await stream.over).toBe('cut')
    expect(stream.text).not.toContain(terminal)
    expect(stream.text).not.toContain('agent_record_id')
    expect(await responsesOf(here, 'held')).toHaveLength(stored)
  })

  it('is stored whole when its client leaves while the record is being stored [decisions.streams-early-close]', async () => {
    const stored = (await responsesOf(here, 'held')).length
    const stream = await heldStream(path)
    stream.drop()
    // When later clients were answered, the service has noticed that this one disconnected.
    for (let requests = 0; requests < 3; requests++) await here.get('/healthz')
    heldStore().release()
    await until(async () => (await responsesOf(here, 'held')).length > stored)
    expect((await responsesOf(here, 'held')).at(-1)).toMatchObject({ stream: true, complete: true })
  })

  it('closed by its client right after its last event is a whole record and no interruption [decisions.streams-early-close]', async () => {
    const stored = (await responsesOf(here, 'held')).length
    // The provider keeps its side open, so that only the client can end this.
    here.upstream.answer((received, response) => void beginFrames(response, framesOf(received.url)))
    const cancelled = here.upstream.cancelled
    const stream = await openStream(here.address, path, { stream: true }, scenario)
    await stream.seen(terminal)
    stream.drop()
    await until(() => here.upstream.open === 0)
    expect(here.upstream.cancelled).toBe(cancelled + 1)
    const responses = await responsesOf(here, 'held')
    expect(responses).toHaveLength(stored + 1)
    expect(responses.at(-1)).toMatchObject({ stream: true, complete: true })
    expect(responses.at(-1)).not.toHaveProperty('cause')
    here.upstream.answer(answerPlainly)
  })
})

describe('a whole answer', () => {
  it('waits until its record is stored [decisions.streams-durable]', async () => {
    heldStore().hold()
    const sent = sendAndListen(here.address, '/v1/messages/count_tokens', {}, scenario)
    let isAnswered = false
    const answer = sent.answer.finally(() => {
      isAnswered = true
    })
    await heldStore().held()
    expect(isAnswered).toBe(false)
    heldStore().release()
    expect((await answer).headers['x-svc-agent-record-id']).toMatch(/^[0-9a-f]{32}$/)
  })

  it('is withheld with a 503 when its record cannot be stored [errors.503-store]', async () => {
    const stored = (await responsesOf(here, 'held')).length
    heldStore().hold()
    const sent = sendAndListen(here.address, '/v1/chat/completions', {}, scenario)
    await heldStore().held()
    heldStore().release(full)
    const answer = await sent.answer
    expect(await answer.over).toBe('ended')
    expect(answer.status).toBe(503)
    expect(answer.headers['x-svc-agent-record-id']).toBeUndefined()
    expect(answer.text).toContain('disk_full')
    expect(await responsesOf(here, 'held')).toHaveLength(stored)
  })
})
