/** What the harness, train and movement routes answer for a scenario that only records. */
import { beforeAll, describe, expect, it } from 'vitest'
import { sharedWorld } from '../support/world.ts'
import { errorOf, expectRefusal, named, scenarioNames, textAt } from './support/helpers.ts'

const HERE = named('plain')

const here = sharedWorld()
let head: string
beforeAll(async () => {
  const created = await here.post('/svc/scenarios', { name: 'plain' })
  head = textAt(created.json, 'release_id')
})

describe('a scenario that serves no files', () => {
  it.each(['', '?release_id=x', '/releases', '/releases/0/page', '/releases/0/records'])(
    'answers GET /svc/harness%s with 404 naming its recipe [harness.absent]',
    async (path) => {
      expectRefusal(await here.get(`/svc/harness${path}`, HERE), 404, 'no_harness', 'record-only')
    },
  )

  it.each([
    '/svc/harness',
    '/svc/harness/releases',
    '/svc/harness/releases/0/records',
    '/svc/harness/requests/x/progress',
    '/svc/harness/progress',
  ])('%s reads the header alone: a scenario in the query is none [progress.headers-only] [routes.scenario-header]', async (path) => {
    expectRefusal(await here.get(`${path}?scenario=plain`), 400, 'scenario_missing')
    expectRefusal(await here.get(`${path}?scenario=plain&key=0`, HERE), 401, 'unauthorized')
  })

  it('the two pages read the query too, and a header wins', async () => {
    for (const path of ['/svc/harness/releases/0/page', '/svc/harness/requests/x/page']) {
      expect((await here.get(`${path}?scenario=plain`)).status).toBe(404)
      expect(errorOf(await here.get(`${path}?scenario=none`))['code']).toBe('unknown_scenario')
      expect(errorOf(await here.get(`${path}?scenario=plain`, named('none')))['code']).toBe('unknown_scenario')
      expect(errorOf(await here.get(path))['code']).toBe('scenario_missing')
    }
  })

  it.each(['page', 'progress'])('knows no request: the 404 of its %s names the id [page.request-unknown]', async (view) => {
    expectRefusal(await here.get(`/svc/harness/requests/req-9/${view}`, HERE), 404, 'unknown_request', 'req-9')
  })

  it('takes no proposals: 404 names the reason [proposal.absent]', async () => {
    const proposal = { mutations: [{ op: 'remove', id: 'a' }], reason: 'r', session: 's', release_id: head }
    expectRefusal(await here.post('/svc/harness/proposals', proposal, HERE), 404, 'no_proposals', 'not a harness evolution recipe')
    expectRefusal(await here.post('/svc/harness/proposals', '[', HERE), 400, 'malformed_json')
  })

  it('is not created by asking for what it does not have', async () => {
    for (const path of ['/svc/harness', '/svc/harness/releases', '/svc/harness/install?adapter=pi'])
      expect((await here.get(path, named('asked'))).status).toBe(404)
    expect(await scenarioNames(here)).toEqual(['plain'])
  })
})

/** Refusals of this route are scripts otherwise. */
const AS_JSON = { accept: 'application/json' }

describe('install', () => {
  it('needs an adapter, and says which routes serve those without one [harness.install-adapter]', async () => {
    expectRefusal(await here.get('/svc/harness/install', { ...HERE, ...AS_JSON }), 400, 'adapter_missing')
    for (const adapter of ['native', 'terminus']) {
      const answer = await here.get(`/svc/harness/install?adapter=${adapter}`, { ...HERE, ...AS_JSON })
      expectRefusal(answer, 400, 'adapter_without_install', /GET \/svc\/harness,.*POST \/svc\/train/)
    }
  })

  it('of an adapter that is not configured is 404 [harness.rule-4] [harness.absent]', async () => {
    expectRefusal(await here.get('/svc/harness/install?adapter=none', { ...HERE, ...AS_JSON }), 404, 'no_harness_recipe')
  })
})

it('a scenario without an agent to install has no install line [harness.absent]', async () => {
  expect(await here.get('/svc/harness/install/line', HERE)).toMatchObject({ status: 200, text: '' })
})

it('the adapters are a list [harness.adapters]', async () => {
  const answer = await here.get('/svc/harness/adapters')
  expect(answer.status).toBe(200)
  expect(answer.json).toEqual({ adapters: expect.any(Array) })
})

describe('a train instruction', () => {
  const instruction = { text: 'do better', session: 's', release_id: 'r' }

  it('is refused by a scenario in auto mode and stored nowhere [train.rule-2-auto] [errors.400-train]', async () => {
    const answer = await here.post('/svc/train', instruction, HERE)
    expectRefusal(answer, 400, 'auto_mode')
    expect(errorOf(answer)['message']).not.toContain('do better')
    expect((await here.get('/svc/scenarios/plain/records?request_type=train')).json['records']).toEqual([])
  })

  it('for an unknown scenario is 404 and creates nothing, though implicit creation is on [train.rule-5]', async () => {
    expectRefusal(await here.post('/svc/train', instruction, named('unheard')), 404, 'unknown_scenario')
    expect(await scenarioNames(here)).toEqual(['plain'])
  })
})

describe('moving the head', () => {
  it.each(['rollback', 'promote'])('by %s to the head itself answers the head and commits nothing [movement.head]', async (move) => {
    const { json } = await here.post(`/svc/scenarios/plain/${move}`, { release_id: head })
    expect(json).toEqual({ scenario: 'plain', release_id: head, content_id: expect.any(String), step: 0 })
    expect((await here.get('/svc/scenarios/plain/commits')).json['commits']).toEqual([])
  })

  it.each(['rollback', 'promote'])('by %s to an unknown release, or in an unknown scenario, is 404 [movement.unknown]', async (move) => {
    expectRefusal(await here.post(`/svc/scenarios/plain/${move}`, { release_id: 'none' }), 404, 'unknown_release')
    expectRefusal(await here.post(`/svc/scenarios/none/${move}`, { release_id: head }), 404, 'unknown_scenario')
  })

  it.each([{}, { release_id: '' }, { release_id: 4 }])('by %j is 400 naming the field', async (body) => {
    expectRefusal(await here.post('/svc/scenarios/plain/rollback', body), 400, 'invalid_field', /^release_id/)
  })
})
