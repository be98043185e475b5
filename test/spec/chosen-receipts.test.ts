/** Receipts for clients that cannot read any: chosen beforehand, or looked up by the session of the exchanges. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { openStream } from '../support/client.ts'
import { answerPlainly, beginFrames, breakOffAfter, chatFrames, sendJson } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { sharedWorld, type Answer } from '../support/world.ts'
import { expectRefusal, named, OPEN_RECIPE, recordIds, textAt } from './support/helpers.ts'

const CHAT = '/v1/chat/completions'
const BODY = { model: 'm', messages: [] }

const here = sharedWorld({ backend: 'sqlite', settings: { recipe: 'open', 'recipes.open.use': OPEN_RECIPE } })
let count = 0
let scenario = ''
beforeEach(() => {
  scenario = `chosen-${++count}`
  here.upstream.answer(answerPlainly)
})

const chosen = (id: string): Record<string, string> => ({ ...named(scenario), 'x-svc-agent-record-id': id })
const inSession = (session: string): Record<string, string> => ({ ...named(scenario), 'x-svc-tag-session': session })
const ids = (): Promise<readonly string[]> => recordIds(here, scenario)
const report = (body: object): Promise<Answer> => here.post('/svc/report', body, named(scenario))
const stored = async ({ json }: Answer): Promise<JsonObject> =>
  (await here.get(`/svc/scenarios/${scenario}/records/${textAt(json, 'agent_record_id')}`)).json
const referencesOf = async (answer: Answer): Promise<unknown> => (await stored(answer))['references']

describe('a receipt that the client chose', () => {
  it.each(['a', 'run 42/step*', '日'.repeat(256)])('is the receipt of the exchange, in all formats, whole and streamed: %s', async (id) => {
    const bytes = Buffer.from(id).toString('latin1')
    for (const [index, path] of [CHAT, '/v1/responses', '/v1/messages', '/v1/messages/count_tokens'].entries()) {
      const own = index === 0 ? bytes : `${index}`
      expect((await here.post(path, BODY, chosen(own))).headers['x-svc-agent-record-id']).toBe(own)
    }
    for (const path of [CHAT, '/v1/responses', '/v1/messages'])
      expect((await here.post(path, { ...BODY, stream: true }, chosen(`s${path}`))).text).toContain(`"svc.agent_record_id":"s${path}"`)
    expect(await ids()).toEqual([id, '1', '2', '3', `s${CHAT}`, 's/v1/responses', 's/v1/messages'])
    expect((await here.post('/svc/report', { score: 1, references: [id] }, named(scenario))).status).toBe(200)
  })

  it('that is stored already, as whatever, is 409 for good, and the upstream is not asked', async () => {
    await here.post(CHAT, BODY, chosen('stored'))
    await here.post('/svc/report', { agent_record_id: 'a-report', score: 1 }, named(scenario))
    const asked = here.upstream.received.length
    for (const id of ['stored', 'a-report']) expectRefusal(await here.post(CHAT, BODY, chosen(id)), 409, 'record_conflict')
    expect(here.upstream.received).toHaveLength(asked)
    expect((await here.post(CHAT, BODY, { ...chosen('stored'), ...named('elsewhere') })).status).toBe(200)
  })

  it('may be sent again after a failure that stored nothing', async () => {
    here.upstream.answer((_received, response) => sendJson(response, 500, { error: { message: 'broken' } }))
    expect((await here.post(CHAT, BODY, chosen('again'))).status).toBe(502)
    here.upstream.answer(answerPlainly)
    expect((await here.post(CHAT, BODY, chosen('again'))).status).toBe(200)
    expect(await ids()).toEqual(['again'])
  })

  it('may be sent again after an answer that broke off, which is kept under an id of its own', async () => {
    here.upstream.answer(breakOffAfter(chatFrames.slice(0, 2)))
    await here.post(CHAT, { ...BODY, stream: true }, chosen('again')).catch(() => null)
    here.upstream.answer(answerPlainly)
    expect((await here.post(CHAT, { ...BODY, stream: true }, chosen('again'))).text).toContain('"svc.agent_record_id":"again"')
    expect(await ids()).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), 'again'])
  })

  it('sent twice at once is one exchange: the second waits and is refused, or goes on where the first failed', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    here.upstream.answer(async (received, response) => {
      await gate
      if (received.body.includes('fail')) sendJson(response, 500, {})
      else answerPlainly(received, response)
    })
    const asked = here.upstream.received.length
    const both = [here.post(CHAT, BODY, chosen('both')), here.post(CHAT, BODY, chosen('both'))]
    const failing = here.post(CHAT, { ...BODY, fail: true }, chosen('second'))
    await until(() => here.upstream.received.length === asked + 2)
    const second = here.post(CHAT, BODY, chosen('second'))
    open()
    expect(new Set((await Promise.all(both)).map(({ status }) => status))).toEqual(new Set([200, 409]))
    expect([(await failing).status, (await second).status]).toEqual([502, 200])
  })

  it('that is too long or sent twice is 400, and on the evaluation routes it means nothing', async () => {
    expectRefusal(await here.post(CHAT, BODY, chosen('x'.repeat(257))), 400, 'invalid_field')
    expect((await here.post(CHAT, BODY, chosen('  '))).headers['x-svc-agent-record-id']).toMatch(/^[0-9a-f]{32}$/)
    const path = `/svc/scenarios/${scenario}/evaluation${CHAT}`
    expect((await here.post(path, BODY, chosen('x'))).status).toBe(200)
    expect(await ids()).toHaveLength(1)
  })
})

describe('a report about a session', () => {
  it('quotes all its exchanges in their order, or the latest, and is kept as if it had named them', async () => {
    for (const [id, session] of Object.entries({ 1: 's', 2: 't', 3: 's' }))
      await here.post(CHAT, { ...BODY, stream: id === '3' }, { ...inSession(session), 'x-svc-agent-record-id': id })
    const all = await report({ score: 1, references_to: { session: 's' } })
    expect(await referencesOf(all)).toEqual(['1', '3'])
    expect(await referencesOf(await report({ references_to: { session: 's', which: 'latest' } }))).toEqual(['3'])
    const { payload } = await stored(all)
    expect(payload).toEqual({ score: 1, references: ['1', '3'] })
  })

  it('that is sent again is the same report, also when the session went on', async () => {
    await here.post(CHAT, BODY, { ...inSession('s'), 'x-svc-agent-record-id': '1' })
    const body = { agent_record_id: 'vote', score: 1, references_to: { session: 's' } }
    expect((await report(body)).status).toBe(200)
    await here.post(CHAT, BODY, inSession('s'))
    const again = await report(body)
    expect(again.status).toBe(200)
    expect(await referencesOf(again)).toEqual(['1'])
    expectRefusal(await report({ ...body, score: 0 }), 409, 'record_conflict')
  })

  it('that has none, in a scenario that has none, is 400 and creates nothing', async () => {
    expectRefusal(await report({ references_to: { session: 's' } }), 400, 'unknown_reference')
    expect((await here.get(`/svc/scenarios/${scenario}/contract`)).status).toBe(404)
    await here.post(CHAT, BODY, named(scenario))
    expectRefusal(await report({ references_to: { session: 's' } }), 400, 'unknown_reference')
  })

  it.each([
    [{ references_to: 'x' }, /^references_to: must be an object/],
    [{ references_to: {} }, /^references_to\.session: must name the session/],
    [{ references_to: { session: 's', which: 'some' } }, /^references_to\.which: must be 'all' or 'latest'/],
  ])('that is malformed is 400: %j', async (body, words) => {
    expectRefusal(await report(body), 400, 'invalid_field', words)
  })

  it('that quotes receipts beside is 400', async () => {
    expectRefusal(await report({ references_to: { session: 's' }, references: ['1'] }), 400, 'repeated_reference')
  })

  it('passes the rules of the recipe with the receipts it stands for', async () => {
    await here.post(CHAT, BODY, inSession('s'))
    expectRefusal(await report({ references_to: { session: 's' }, metadata: { grade: 'F' } }), 400, 'report_schema')
  })
})

it('a stream that its client leaves keeps the chosen receipt free', async () => {
  here.upstream.answer((_received, response) => void beginFrames(response, chatFrames.slice(0, 1)))
  const stream = await openStream(here.address, CHAT, { ...BODY, stream: true }, chosen('left'))
  stream.drop()
  await until(async () => (await ids()).length === 1)
  here.upstream.answer(answerPlainly)
  expect((await here.post(CHAT, BODY, chosen('left'))).headers['x-svc-agent-record-id']).toBe('left')
})
