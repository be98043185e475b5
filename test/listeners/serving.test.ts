/** A service with two listener threads answers as one with none: whatever changes is served by both, and numbers and log are of one piece. */
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { isObject, type JsonObject } from '../../src/contract/index.ts'
import { PLANTED, plantHistory } from '../spec/support/planted.ts'
import { connectTo, openStream } from '../support/client.ts'
import { recordsOf } from '../support/kept.ts'
import { answerPlainly, beginFrames, chatFrames, sendJson, startUpstream } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { shared, type Answer, type World } from '../support/world.ts'

const planted = shared(() => plantHistory({ 'svc.listeners': 2 }))
const here = (): World => planted.here

const CHAT = '/v1/chat/completions'
/** So many connections meet both threads, but once in a million runs. */
const CONNECTIONS = 20

const ask = (scenario: string, more: Readonly<Record<string, string>> = {}, body: object = {}, path = CHAT): Promise<Answer> =>
  here().post(path, { model: 'm', messages: [], ...body }, { 'x-svc-scenario': scenario, ...more })

const askBoth = (...asked: Parameters<typeof ask>): Promise<readonly Answer[]> =>
  Promise.all(Array.from({ length: CONNECTIONS }, () => ask(...asked)))

async function metric(name: string): Promise<number> {
  const { text } = await here().get('/metrics')
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1))
}

/** How many of the requests that the task sends are passed on to the main thread. */
async function relayedBy(task: () => Promise<unknown>): Promise<number> {
  const before = await metric('svc_requests_relayed_total')
  await task()
  // The second look at the numbers is relayed too.
  return (await metric('svc_requests_relayed_total')) - before - 1
}

const receiptOf = ({ headers, text }: Answer): string =>
  String(
    headers['x-svc-agent-record-id'] ?? /"svc.agent_record_id":"([^"]+)"|"agent_record_id":"([^"]+)"/.exec(text)?.slice(1).find(Boolean),
  )

describe('inference', () => {
  const FORMATS = [
    [CHAT, {}],
    ['/v1/responses', { input: 'hi' }],
    ['/v1/messages', { max_tokens: 5 }],
  ] as const

  it.each(FORMATS)('of a known scenario is answered by the listener threads alone, whole and streamed: %s', async (path, body) => {
    await ask('formats', {}, body, path)
    const answers: Answer[] = []
    const relayed = await relayedBy(async () => {
      for (const stream of [false, true]) answers.push(...(await askBoth('formats', {}, { ...body, stream }, path)))
    })
    expect(relayed).toBe(0)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const receipts = answers.map(receiptOf)
    expect(new Set(receipts).size).toBe(2 * CONNECTIONS)
    const read = await Promise.all(receipts.map((id) => here().get(`/svc/scenarios/formats/records/${id}`)))
    expect(new Set(read.map(({ status }) => status))).toEqual(new Set([200]))
  })

  it('creates a scenario once, however many first requests come at once', async () => {
    const answers = await askBoth('created-at-once')
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await recordsOf(here(), 'created-at-once')).toHaveLength(CONNECTIONS)
  })

  it('under a receipt that the client chose is answered once, whichever thread is asked', async () => {
    await ask('chosen')
    const statuses = (await askBoth('chosen', { 'x-svc-agent-record-id': 'mine' })).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(new Set(statuses)).toEqual(new Set([200, 409]))
  })

  it('that names another starting release is refused by both', async () => {
    await ask('started')
    const answers = await askBoth('started', { 'x-svc-release-id': 'another' })
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([409]))
  })

  it('that cannot be read makes no scenario', async () => {
    const answer = await here().post(CHAT, '{"model":', { 'x-svc-scenario': 'never-made' })
    expect(answer.status).toBe(400)
    expect((await here().get('/svc/scenarios/never-made/records')).status).toBe(404)
  })
})

describe('a change', () => {
  it('of the head is served by both threads once it is answered', async () => {
    const { created, head } = planted.releases
    await askBoth(PLANTED)
    const named = async (): Promise<ReadonlySet<unknown>> => {
      const receipts = (await askBoth(PLANTED)).map(receiptOf)
      const rows = await Promise.all(receipts.map((id) => here().get(`/svc/scenarios/${PLANTED}/records/${id}`)))
      return new Set(rows.map(({ json }) => json['artifact_ref']))
    }
    expect(await named()).toEqual(new Set([head.release_id]))
    for (const to of [created, planted.releases.trained, created]) {
      const moved = await here().post(`/svc/scenarios/${PLANTED}/rollback`, { release_id: to.release_id })
      expect(moved.status, moved.text).toBe(200)
      expect(await named()).toEqual(new Set([moved.json['release_id']]))
    }
  })

  it('of the model settings is used by both threads once it is answered', async () => {
    const other = await startUpstream()
    other.answer((_, response) => sendJson(response, 200, { ...SAID, model: 'other' }))
    await askBoth('moved')
    await here().post('/svc/scenarios/moved/update', { model: { url: other.url, api_key: 'sk-moved-key-0123456789' } })
    const answers = await askBoth('moved')
    await other.close()
    expect(new Set(answers.map(({ json }) => json['model']))).toEqual(new Set(['other']))
    expect(new Set(other.received.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer sk-moved-key-0123456789']))
  })

  it('of a name that was archived is seen by both: the name is free, and an answer in flight is not kept under it', async () => {
    await askBoth('archived')
    const gate = Promise.withResolvers<void>()
    here().upstream.answer(async (_, response) => {
      beginFrames(response, chatFrames.slice(0, 2))
      await gate.promise
      response.end(chatFrames.slice(2).join(''))
    })
    const stream = await openStream(here().address, CHAT, { model: 'm', messages: [], stream: true }, { 'x-svc-scenario': 'archived' })
    await stream.seen('data: ')
    here().upstream.answer(answerPlainly)
    expect((await here().ask('DELETE', '/svc/scenarios/archived')).status).toBe(200)
    const receipts = new Set((await askBoth('archived')).map(receiptOf))
    gate.resolve()
    await stream.over
    expect(new Set((await recordsOf(here(), 'archived')).map((row) => row['agent_record_id']))).toEqual(receipts)
  })
})

const SAID = {
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
}

describe('the operator', () => {
  it('sees the sum of all threads at once, and one log line for each request', async () => {
    await ask('counted')
    const series = `svc_request_seconds_count{route="${CHAT}",status="200"}`
    const before = await metric(series)
    const linesBefore = requestLines('counted').length
    await askBoth('counted')
    expect((await metric(series)) - before).toBe(CONNECTIONS)
    expect(requestLines('counted').length - linesBefore).toBe(CONNECTIONS)
    expect(requestLines('counted').every(({ receipt }) => typeof receipt === 'string')).toBe(true)
    expect([await metric('svc_listeners'), await metric('svc_listeners_wanted'), await metric('svc_listeners_lost_total')]).toEqual([
      2, 2, 0,
    ])
    expect(await metric('svc_requests_in_flight')).toBe(1)
  })

  it('is told nothing of a service that is whole', async () => {
    const { json } = await here().get('/healthz')
    expect(isObject(json) && json).toEqual({ ok: true })
  })
})

describe('a client that leaves while its thread asks for the scenario', () => {
  it.each(['half of its body', 'all of its body'])('and has sent %s is over like any other', async (what) => {
    const name = `left with ${what}`
    await here().post('/svc/scenarios', { name })
    const body = '{"messages":[]}'
    const client = connectTo(here().address).on('error', () => undefined)
    await once(client, 'connect')
    client.write(`POST ${CHAT} HTTP/1.1\r\nHost: x\r\nX-Svc-Scenario: ${name}\r\nContent-Length: ${body.length}\r\n\r\n`)
    client.write(what.startsWith('all') ? body : body.slice(0, 5))
    // The main thread, which is this one, answers late.
    stand(200)
    client.resetAndDestroy()
    stand(200)
    await until(() => requestLines(name).some(({ status }) => status === 499))
    expect(await metric('svc_requests_in_flight')).toBe(1)
  })
})

const stopped = new Int32Array(new SharedArrayBuffer(4))
const stand = (ms: number): void => void Atomics.wait(stopped, 0, 0, ms)

const requestLines = (scenario: string): readonly JsonObject[] =>
  here().log.filter((line) => line['event'] === 'request' && line['scenario'] === scenario)
