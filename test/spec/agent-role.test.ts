/** What the token of an agent's session sees of a scenario that holds a change: what is served, and nothing that waits for a person. */
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { send, sharedWorld } from '../support/world.ts'
import { bearer, errorOf, expectRefusal, LEDGER_RECIPE, named, rowsOf, textAt } from './support/helpers.ts'
import { fresh, trainee } from './support/trainee.ts'

const TOKEN = 'admin-token-of-the-test'
const NAME = 'support'
const settings = {
  'svc.token': TOKEN,
  recipe: join(import.meta.dirname, '../fixtures/held-orders.ts'),
  'evolution.adapter': 'pi',
  'data.training_mode': 'manual',
}
const here = sharedWorld({ settings, headers: bearer(TOKEN) })
let agent: Record<string, string>
let held: string

beforeAll(async () => {
  await here.exchange(NAME)
  await trainee(here, NAME).ask('Be brief.\nBe kind.')
  await trainee(here, NAME).row(1)
  held = textAt((await trainee(here, NAME).listed()).find(({ pending }) => pending === true) ?? {}, 'release_id')
  const made = await here.post('/svc/tokens', { name: 'laptop', role: 'agent', scenarios: [NAME] })
  agent = { ...bearer(textAt(made.json, 'token')), ...named(NAME) }
})

it('a release that waits for review is not in its catalog and cannot be pulled or installed [access.agent]', async () => {
  const catalog = await here.get('/svc/harness/releases', agent)
  expect(rowsOf(catalog, 'releases').length).toBe(1)
  expect(rowsOf(await here.get('/svc/harness/releases?limit=10', agent), 'releases').length).toBe(1)
  expect(catalog.text).not.toContain(held)
  const path = `/svc/harness?release_id=${held}`
  expectRefusal(await here.get(path, agent), 404, 'unknown_release')
  expect((await here.get(path, named(NAME))).status).toBe(200)
  const install = await here.get(`/svc/harness/install?adapter=pi&release_id=${held}`, { ...agent, accept: 'application/json' })
  expect([install.status, errorOf(install)['code']]).toEqual([404, 'unknown_release'])
  expect((await here.get('/svc/harness', agent)).status).toBe(200)
})

it('the page of a held version is not there for it, by its token or by its page key, and is for people [access.agent] [access.page-keys]', async () => {
  const pages = rowsOf(await here.get('/svc/harness/releases', agent), 'releases').map((row) => textAt(row, 'page_path'))
  const nobody = { authorization: agent['authorization'] ?? '' }
  for (const path of pages) {
    expect((await here.ask('GET', path, { headers: nobody })).status).toBe(200)
    const waiting = path.replace('/releases/0/', '/releases/1/')
    expect((await here.ask('GET', waiting, { headers: agent })).status).toBe(404)
    expect((await keyed(path)).status).toBe(200)
    expect((await keyed(waiting)).status).toBe(404)
  }
  const own = (await trainee(here, NAME).listed()).map((row) => textAt(row, 'page_path'))
  expect((await keyed(own[1] ?? '')).status).toBe(200)
})

/** Without any header. */
const keyed = (path: string) => send(here.address, 'GET', path, {})

it('step records, steps, tasks and the moves are not for it [access.agent] [trust.step-records]', async () => {
  for (const path of ['releases/1/records', 'progress', 'tasks', 'tasks/x'])
    expect(errorOf(await here.get(`/svc/harness/${path}`, agent))['code']).toBe('role_forbids')
  for (const move of ['promote', 'reject', 'rollback', 'withdraw', 'comment'])
    expectRefusal(await here.post(`/svc/scenarios/${NAME}/${move}`, { release_id: held }, agent), 401, 'role_forbids', /review/)
})

it('it calls the model, reports, asks for a change and follows it [access.agent]', async () => {
  const answer = await here.post('/v1/chat/completions', { model: 'm', messages: [] }, agent)
  const receipt = String(answer.headers['x-svc-agent-record-id'])
  expect((await here.post('/svc/report', { references: [receipt], score: 1 }, agent)).status).toBe(200)
  const asked = await here.post('/svc/train', { text: 'Be kind.', session: 's', release_id: 'r' }, agent)
  expect(asked.status).toBe(200)
  const id = textAt(asked.json, 'agent_record_id')
  expect((await here.get(`/svc/harness/requests/${id}/progress`, agent)).status).toBe(200)
  expect(
    (await here.ask('GET', textAt(asked.json, 'page_path'), { headers: { authorization: agent['authorization'] ?? '' } })).status,
  ).toBe(200)
})

describe('what is asked for', () => {
  const publishing = sharedWorld({ settings: { 'svc.token': TOKEN, recipe: LEDGER_RECIPE }, headers: bearer(TOKEN) })

  it('with a token of the role agent waits for a person, who promotes it; with another one it is published [access.agent-asks]', async () => {
    const s = await fresh(publishing, 'manual')
    const made = await publishing.post('/svc/tokens', { name: 'machine', role: 'agent', scenarios: [s.name] })
    const own = { ...bearer(textAt(made.json, 'token')), ...named(s.name) }
    const body = { text: 'Be kind.', session: 's', release_id: 'r' }
    const id = textAt((await publishing.post('/svc/train', body, own)).json, 'agent_record_id')
    const row = await s.consumer(id)
    expect(row).toMatchObject({
      pending: true,
      metrics: {
        held_because: 'it was asked for with the token machine, of the role agent',
        training_request: { id, asked_by: { token: 'machine', role: 'agent' } },
      },
    })
    expect((await s.consumer(await s.ask('Be brief.')))['pending']).toBe(false)
    const waiting = (await s.releases()).find(({ pending }) => pending === true)
    expect((await s.move('promote', textAt(waiting ?? {}, 'release_id'))).status).toBe(200)
  })
})
