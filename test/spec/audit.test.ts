/** The audit: who changed what, when and from where, with what was there before and after. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { ownWorld, sharedWorld, type World } from '../support/world.ts'
import { bearer, expectRefusal, importInference, LEDGER_RECIPE, named, rowsOf, textAt } from './support/helpers.ts'
import { trainee } from './support/trainee.ts'

const TOKEN = 'admin-token-of-the-test'
const ADMIN = bearer(TOKEN)

const here = sharedWorld({ settings: { 'svc.token': TOKEN, recipe: LEDGER_RECIPE }, headers: ADMIN })

const newest = async (there: World, query = ''): Promise<JsonObject> =>
  rowsOf(await there.get(`/svc/audit?order=newest&limit=1${query}`), 'audit')[0] ?? {}

describe('an entry [access.audit]', () => {
  it('of a scenario that a request made by naming it says who asked, once', async () => {
    const first = await here.post('/v1/chat/completions', { model: 'm', messages: [] }, named('implicit'))
    const made = await newest(here)
    expect(made).toMatchObject({
      id: `${String(first.headers['x-request-id'])}.scenario`,
      by: 'svc.token',
      from: '127.0.0.1',
      action: 'createScenario',
      scenario: 'implicit',
      before: null,
      after: { release_id: expect.any(String) },
    })
    await here.post('/v1/chat/completions', { model: 'm', messages: [] }, named('implicit'))
    expect(await newest(here)).toEqual(made)
    await importInference(here, 'imported', 'first of its scenario')
    expect(await newest(here)).toMatchObject({ action: 'createScenario', scenario: 'imported' })
  })

  it('of a scenario says what it became, and what its settings were', async () => {
    const created = await here.post('/svc/scenarios', { name: 'told' })
    expect(await newest(here)).toEqual({
      sequence: expect.any(Number),
      id: created.headers['x-request-id'],
      at: expect.any(Number),
      by: 'svc.token',
      role: 'admin',
      from: '127.0.0.1',
      action: 'createScenario',
      scenario: 'told',
      target: null,
      before: null,
      after: expect.anything(),
    })
    expect(await newest(here)).toMatchObject({ after: { release_id: created.json['release_id'], training_mode: 'auto' } })
    const { sequence } = await newest(here)
    await here.post('/svc/scenarios', { name: 'told' })
    expect(await newest(here)).toMatchObject({ sequence })
    const model = { url: 'http://127.0.0.1:9', api_key: 'sk-key-of-the-model' }
    await here.post('/svc/scenarios/told/update', { training_mode: 'manual', model })
    const updated = await newest(here)
    expect(updated).toMatchObject({
      action: 'updateScenario',
      scenario: 'told',
      before: { training_mode: 'auto' },
      after: { training_mode: 'manual', model: { url: 'http://127.0.0.1:9', has_api_key: true } },
    })
    expect(JSON.stringify(updated)).not.toContain('sk-key-of-the-model')
    const removed = await here.ask('DELETE', '/svc/scenarios/told')
    expect(await newest(here)).toMatchObject({ action: 'archiveScenario', scenario: 'told', after: { archived: removed.json['archived'] } })
  })

  it('of a move says which release was served before and which is now, and one of a move that changed nothing is not there', async () => {
    const s = trainee(here, 'moved')
    await here.post('/svc/scenarios', { name: 'moved' })
    const first = textAt(await s.head(), 'release_id')
    await s.reported()
    await s.row(1)
    const second = textAt(await s.head(), 'release_id')
    const answer = await s.move('rollback', first)
    const { release_id, step } = answer.json
    expect(await newest(here)).toMatchObject({
      action: 'rollback',
      scenario: 'moved',
      target: first,
      before: { release_id: second },
      after: { release_id, step },
    })
    const { sequence } = await newest(here)
    await s.move('rollback', textAt(answer.json, 'release_id'))
    await s.move('promote', 'none')
    expect(await newest(here)).toMatchObject({ sequence })
  })

  it('of an instruction names it, once', async () => {
    const { name } = { name: 'asked' }
    await here.post('/svc/scenarios', { name })
    await here.post(`/svc/scenarios/${name}/update`, { training_mode: 'manual' })
    const body = { agent_record_id: 'q-1', text: 'told to be kind', session: 's', release_id: 'r' }
    for (const _ of [1, 2]) expect((await here.post('/svc/train', body, named(name))).status).toBe(200)
    const entries = rowsOf(await here.get('/svc/audit?limit=100'), 'audit').filter(({ action }) => action === 'sendInstruction')
    expect(entries).toMatchObject([{ scenario: name, target: 'q-1', by: 'svc.token' }])
    expect(JSON.stringify(entries)).not.toContain('told to be kind')
  })

  it('of a token names who made it, without its secret', async () => {
    const made = await here.post('/svc/tokens', { name: 'second-admin', role: 'admin' })
    const second = bearer(textAt(made.json, 'token'))
    await here.ask('POST', '/svc/tokens', { headers: second, body: { name: 'third', role: 'read' } })
    expect(await newest(here)).toMatchObject({
      by: 'second-admin',
      role: 'admin',
      action: 'createToken',
      target: 'third',
      after: { name: 'third', role: 'read', scenarios: null },
    })
    await here.ask('DELETE', '/svc/tokens/third', { headers: second })
    expect(await newest(here)).toMatchObject({ by: 'second-admin', action: 'revokeToken', target: 'third', after: null })
    expect((await here.get('/svc/audit?limit=100')).text).not.toContain(textAt(made.json, 'token'))
  })

  it('is there for nothing that was refused', async () => {
    const { sequence } = await newest(here)
    const reader = bearer(textAt((await here.post('/svc/tokens', { name: 'reader', role: 'read' })).json, 'token'))
    for (const [method, path] of [
      ['POST', '/svc/scenarios'],
      ['DELETE', '/svc/scenarios/asked'],
      ['DELETE', '/svc/tokens/reader'],
    ] as const)
      expectRefusal(await here.ask(method, path, { headers: reader, body: {} }), 401, 'role_forbids')
    expect(await newest(here)).toMatchObject({ sequence: Number(sequence) + 1, action: 'createToken' })
  })

  it('of an open service names nobody', async () => {
    const open = await ownWorld()
    await open.post('/svc/scenarios', { name: 'a' })
    expect(await newest(open)).toMatchObject({ by: null, role: null, action: 'createScenario', from: '127.0.0.1' })
  })
})

describe('reading it', () => {
  it('goes page by page, from either end [access.audit]', async () => {
    const there = await ownWorld({ backend: 'sqlite', settings: { 'svc.token': TOKEN }, headers: ADMIN })
    for (const name of ['a', 'b', 'c']) await there.post('/svc/scenarios', { name })
    await there.restart()
    const read = async (query: string) => {
      const { json } = await there.get(`/svc/audit?${query}`)
      return [
        rowsOf({ json }, 'audit').map(({ scenario }) => scenario),
        json[query.includes('newest') ? 'next_before_sequence' : 'next_after_sequence'],
      ]
    }
    expect(await read('limit=2')).toEqual([['a', 'b'], 2])
    expect(await read('limit=2&after_sequence=2')).toEqual([['c'], null])
    expect(await read('limit=2&order=newest')).toEqual([['c', 'b'], 2])
    expect(await read('limit=2&order=newest&before_sequence=2')).toEqual([['a'], null])
    for (const query of ['limit=0', 'order=other', 'after_sequence=x', 'before_sequence=2'])
      expectRefusal(await there.get(`/svc/audit?${query}`), 400, 'invalid_query')
  })
})
