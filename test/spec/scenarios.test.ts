/** Scenarios: creation, settings, and limits. */
import { describe, expect, it } from 'vitest'
import { until } from '../support/wait.ts'
import { ownWorld, sharedWorld, type World } from '../support/world.ts'
import { PLANTED, plantHistory } from './support/planted.ts'
import { expectRefusal, importInference, inference, named, OPEN_RECIPE, recordIds, rowsOf, scenarioNames } from './support/helpers.ts'

const chat = { model: 'm', messages: [] }

const here = sharedWorld({
  settings: {
    recipe: 'plain',
    'recipes.plain.use': 'record-only',
    'recipes.open.use': OPEN_RECIPE,
    'recipes.open.data.training_mode': 'manual',
  },
})

describe('the first call under a new name', () => {
  it.each([
    ['an inference', '/v1/messages', chat],
    ['an import', '/svc/records', inference('a')],
    ['a batch', '/svc/records/batch', { records: [inference('a')] }],
    ['a report', '/svc/report', {}],
  ])('%s creates the scenario with the default recipe [scenario.implicit] [scenario.recipe-deployment]', async (title, path, body) => {
    expect((await here.post(path, body, named(title))).status).toBe(200)
    const row = rowsOf(await here.get('/svc/scenarios'), 'scenarios').find(({ scenario }) => scenario === title)
    expect(row).toMatchObject({ loaded: true, recipe: 'plain', training_mode: 'auto' })
  })

  it('many at once create it once [scenario.implicit]', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `n${index}`)
    const answers = await Promise.all(ids.map((id) => here.post('/svc/records', inference(id), named('rush'))))
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200))
    expect((await recordIds(here, 'rush')).toSorted()).toEqual(ids.toSorted())
  })

  it('by reading creates nothing', async () => {
    for (const path of ['contract', 'records', 'records/x', 'commits', 'releases'])
      expectRefusal(await here.get(`/svc/scenarios/unread/${path}`), 404, 'unknown_scenario')
    expect((await here.get('/v1/models', named('unread'))).status).toBe(200)
    expect(await scenarioNames(here)).not.toContain('unread')
  })

  it('with implicit creation off is 404 and creates nothing; created first, it is served [scenario.implicit-off]', async () => {
    const strict = await ownWorld({ settings: { 'svc.allow_implicit_scenario_creation': false } })
    for (const path of ['/v1/chat/completions', '/svc/records', '/svc/report', '/v1/images'])
      expectRefusal(await strict.post(path, path === '/svc/records' ? inference('a') : {}, named('new')), 404, 'unknown_scenario')
    expect(await scenarioNames(strict)).toEqual([])
    expect(strict.upstream.received).toEqual([])
    await strict.post('/svc/scenarios', { name: 'new' })
    expect((await strict.post('/v1/chat/completions', chat, named('new'))).status).toBe(200)
  })
})

describe('creation', () => {
  it('answers 201 with identity and model view, and 200 for what is there [scenario.create]', async () => {
    const created = await here.post('/svc/scenarios', { name: 'made' })
    const again = await here.post('/svc/scenarios', { name: 'made' })
    expect([created.status, again.status]).toEqual([201, 200])
    expect(created.json).toEqual({
      scenario: 'made',
      release_id: expect.stringMatching(/^[0-9a-f]{40}$/),
      content_id: expect.stringMatching(/^[0-9a-f]{40}$/),
      model: { url: here.upstream.url, model: null, api: 'openai', has_api_key: false },
    })
    expect(again.json).toEqual(created.json)
  })

  it('from a release of the deployment starts there; an unknown one is 404 [scenario.create-release]', async () => {
    const base = await here.post('/svc/scenarios', { name: 'base' })
    const forked = await here.post('/svc/scenarios', { name: 'forked', release_id: base.json['release_id'] ?? null })
    expect(forked.json).toMatchObject({ release_id: base.json['release_id'], content_id: base.json['content_id'] })
    expectRefusal(await here.post('/svc/scenarios', { name: 'lost', release_id: 'f'.repeat(40) }), 404, 'unknown_release')
    expect(await scenarioNames(here)).not.toContain('lost')
  })

  it('under another recipe than the bound one is 409 [scenario.recipe-conflict]', async () => {
    expect((await here.post('/svc/scenarios', { name: 'bound', recipe: 'open' })).status).toBe(201)
    expect((await here.post('/svc/scenarios', { name: 'bound', recipe: 'open' })).status).toBe(200)
    expectRefusal(await here.post('/svc/scenarios', { name: 'bound', recipe: 'plain' }), 409, 'other_recipe')
  })
})

describe('a release header', () => {
  it('binds a new scenario, and afterwards must name the same start [inference.release-header-binds] [inference.release-header-existing]', async () => {
    const planted = await plantHistory()
    const { trained, head } = planted.releases
    const call = (scenario: string, release: string): ReturnType<World['post']> =>
      planted.here.post('/v1/chat/completions', chat, { ...named(scenario), 'x-svc-release-id': release })
    expect((await call('bound', trained.release_id)).status).toBe(200)
    expect((await planted.here.post('/svc/scenarios', { name: 'bound' })).json).toMatchObject({ release_id: trained.release_id })
    expect((await call('bound', trained.release_id)).status).toBe(200)
    expectRefusal(await call('bound', head.release_id), 409, 'other_release')
    expectRefusal(await call('lost', 'f'.repeat(40)), 404, 'unknown_release')
    expect(await scenarioNames(planted.here)).toEqual(['bound', PLANTED])
    await planted.close()
  })

  it('does not choose the release that answers: that is the current one [inference.serves-current] [versioning.separate]', async () => {
    const planted = await plantHistory()
    const { created, head } = planted.releases
    const headers = { ...named(PLANTED), 'x-svc-release-id': created.release_id }
    const receipt = String((await planted.here.post('/v1/chat/completions', chat, headers)).headers['x-svc-agent-record-id'])
    const { json } = await planted.here.get(`/svc/scenarios/${PLANTED}/records/${receipt}`)
    expect(json['artifact_ref']).toBe(head.release_id)
    await planted.close()
  })
})

it('the list is sorted by name, with identity, mode and model once loaded [scenario.list] [decisions.scenario-list]', async () => {
  const there = await ownWorld()
  for (const name of ['b', 'a', 'C']) await there.post('/svc/scenarios', { name })
  const rows = rowsOf(await there.get('/svc/scenarios'), 'scenarios')
  expect(rows.map(({ scenario }) => scenario)).toEqual(['C', 'a', 'b'])
  expect(Object.keys(rows[0] ?? {})).toEqual(['scenario', 'loaded', 'recipe', 'release_id', 'content_id', 'training_mode', 'model'])
})

it('the contract shows what the scenario accepts and how its processor is [scenario.contract]', async () => {
  await here.post('/svc/scenarios', { name: 'open', recipe: 'open' })
  expect((await here.get('/svc/scenarios/open/contract')).json).toEqual({
    scenario: 'open',
    processor: 'idle',
    required_request_types: ['inference', 'report'],
    training_mode: 'manual',
    status: { buffered_requests: 0 },
  })
})

describe('the training mode', () => {
  it('starts as its recipe is configured, auto by default [mode.default]', async () => {
    for (const [recipe, mode] of Object.entries({ plain: 'auto', open: 'manual' })) {
      await here.post('/svc/scenarios', { name: `mode-${recipe}`, recipe })
      expect((await here.get(`/svc/scenarios/mode-${recipe}/contract`)).json['training_mode']).toBe(mode)
    }
  })

  it('changes to any the processor supports [scenario.update]', async () => {
    await here.post('/svc/scenarios', { name: 'moving', recipe: 'open' })
    for (const training_mode of ['hybrid', 'auto', 'manual']) {
      const answer = await here.post('/svc/scenarios/moving/update', { training_mode })
      expect(answer).toMatchObject({ status: 200, json: { scenario: 'moving', training_mode } })
      expect((await here.get('/svc/scenarios/moving/contract')).json['training_mode']).toBe(training_mode)
    }
  })

  it.each(['manual', 'hybrid'])(
    '%s is 501 where the processor does not run in it, and nothing changes [mode.unsupported]',
    async (training_mode) => {
      await here.post('/svc/scenarios', { name: 'still' })
      const answer = await here.post('/svc/scenarios/still/update', { training_mode, model: { model: 'other' } })
      expectRefusal(answer, 501, 'unsupported_mode')
      expect((await here.get('/svc/scenarios/still/contract')).json['training_mode']).toBe('auto')
      expect((await here.post('/svc/scenarios', { name: 'still' })).json).toMatchObject({ model: { model: null } })
    },
  )
})

describe('as many scenarios as are allowed', () => {
  it('may exist; the next is 409, and one deleted makes room [scenario.max] [limits.scenarios] [errors.409-max-scenarios]', async () => {
    const small = await ownWorld({ settings: { 'svc.max_scenarios': 2 } })
    await importInference(small, 'one', 'a')
    await importInference(small, 'two', 'a')
    expectRefusal(await small.post('/svc/scenarios', { name: 'three' }), 409, 'too_many_scenarios')
    expectRefusal(await small.post('/svc/report', {}, named('three')), 409, 'too_many_scenarios')
    expect((await small.post('/svc/scenarios', { name: 'one' })).status).toBe(200)
    await small.ask('DELETE', '/svc/scenarios/one')
    expect((await small.post('/svc/scenarios', { name: 'three' })).status).toBe(201)
  })

  it('may be loaded; one that is idle makes room for the next [scenario.max-loaded]', async () => {
    const small = await ownWorld({ settings: { 'svc.max_loaded_scenarios': 2 } })
    for (const name of ['a', 'b', 'c']) await importInference(small, name, `of-${name}`)
    const loaded = async (): Promise<readonly unknown[]> =>
      rowsOf(await small.get('/svc/scenarios'), 'scenarios').flatMap((row) => (row['loaded'] === true ? [row['scenario']] : []))
    expect(await loaded()).toEqual(['b', 'c'])
    expect(rowsOf(await small.get('/svc/scenarios'), 'scenarios')[0]).toEqual({ scenario: 'a', loaded: false, recipe: 'record-only' })
    expect(await recordIds(small, 'a')).toEqual(['of-a'])
    expect(await loaded()).toEqual(['a', 'c'])
  })

  it('is never exceeded by many that come at once [scenario.max-loaded]', async () => {
    const small = await ownWorld({ settings: { 'svc.max_loaded_scenarios': 2, recipe: OPEN_RECIPE } })
    const names = Array.from({ length: 8 }, (_, index) => `s${index}`)
    for (const name of names) await importInference(small, name, 'a')
    const answers = await Promise.all(names.map((name) => small.get(`/svc/scenarios/${name}/records`)))
    for (const { status } of answers) expect([200, 503]).toContain(status)
    const rows = rowsOf(await small.get('/svc/scenarios'), 'scenarios')
    expect(rows.filter((row) => row['loaded'] === true).length).toBeLessThanOrEqual(2)
  })

  it('busy with calls are not unloaded: the next is 503 with Retry-After [scenario.max-loaded-busy] [errors.503-loaded] [limits.scenarios]', async () => {
    const small = await ownWorld({ settings: { 'svc.max_loaded_scenarios': 1 } })
    const release = small.upstream.hold()
    await importInference(small, 'waiting', 'a')
    const held = small.post('/v1/chat/completions', { ...chat, stream: true }, named('busy'))
    await until(() => small.upstream.open === 1)
    const refused = await small.get('/svc/scenarios/waiting/records')
    expectRefusal(refused, 503, 'too_many_loaded')
    expect(refused.headers['retry-after']).toBe('1')
    release()
    expect((await held).status).toBe(200)
    expect(await recordIds(small, 'waiting')).toEqual(['a'])
  })
})
