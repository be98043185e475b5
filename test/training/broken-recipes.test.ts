/** Recipes that fail to bind, load or close, and trainers that leak secrets: their scenario reports it, and others are served. */
import { describe, expect, it } from 'vitest'
import { mood } from '../fixtures/training/broken.ts'
import { errorOf, named, scenarioNames } from '../spec/support/helpers.ts'
import { fresh, gateIn, memberOf, trainee } from '../spec/support/trainee.ts'
import { until } from '../support/wait.ts'
import type { Answer } from '../support/world.ts'
import { brokenWorld, type Broken } from './broken-world.ts'

const { here, scenarioOf, neighbour, expectOthersTrain } = brokenWorld()

const chat = { model: 'm', messages: [] }
const served = (name: string): Promise<Answer> => here.post('/v1/chat/completions', chat, named(name))

describe('a scenario whose recipe', () => {
  it.each<[string, Broken, string]>([
    ['throws when it is bound', 'bindThrows', 'recipe_failed'],
    ['rejects when it is bound', 'bindRejects', 'recipe_failed'],
    ['names a trainer that no processor feeds', 'unfed', 'recipe_broken'],
  ])('%s answers 503 and says whose fault it is, and the others train', async (_what, recipe, code) => {
    const name = `bad-${recipe}`
    const created = await here.post('/svc/scenarios', { name, recipe })
    expect([created.status, errorOf(created)['code']]).toEqual([503, code])
    expect(created.text).toContain(recipe)
    expect((await served(name)).status).toBe(503)
    await expectOthersTrain()
    expect((await trainee(here, name).remove()).status).toBe(200)
    expect(await scenarioNames(here)).not.toContain(name)
  })

  it('throws when its trainers are asked for is not created: 503, and the others train', async () => {
    const created = await here.post('/svc/scenarios', { name: 'bad-trainers', recipe: 'trainersThrow' })
    expect(created.status).toBe(503)
    await expectOthersTrain()
    expect(await scenarioNames(here)).not.toContain('bad-trainers')
  })

  it('has nothing ready when it is loaded is not served, and the others train', async () => {
    const created = await here.post('/svc/scenarios', { name: 'bad-loader', recipe: 'loaderThrows' })
    expect(created.status).toBeGreaterThanOrEqual(500)
    expect((await served('bad-loader')).status).toBeGreaterThanOrEqual(500)
    await expectOthersTrain()
    expect((await trainee(here, 'bad-loader').remove()).status).toBe(200)
  })

  it('has a new head not ready keeps the row, says so in the status, and is served on', async () => {
    const s = await scenarioOf('loaderRefuses')
    const [, report] = await s.reported()
    expect(await s.consumer(report)).toMatchObject({ step: 1 })
    await until(async () => (await s.errors()).length > 0)
    expect(await s.errors()).toEqual([`${s.name}: the new release could not be loaded: broken on purpose`])
    expect(await s.head()).toMatchObject({ step: 1 })
    expect((await served(s.name)).status).toBe(200)
    const [, next] = await s.reported()
    expect(await s.consumer(next)).toMatchObject({ step: 2 })
    await s.remove()
  })

  it('broke between two starts, or does not let go, keeps no service from stopping or starting: it alone answers 503', async () => {
    const [moody, clinging] = [await scenarioOf('trainersMoody'), await scenarioOf('closeThrows')]
    mood.isBroken = true
    await here.restart()
    expect((await served(moody.name)).status).toBe(503)
    const preloadErrors = async () => Object.keys(memberOf((await here.get('/svc/status')).json, 'preload_errors'))
    await until(async () => (await preloadErrors()).length > 0)
    expect(await preloadErrors()).toEqual([moody.name])
    expect((await served(clinging.name)).status).toBe(200)
    await expectOthersTrain()
    mood.isBroken = false
    const [, report] = await moody.reported()
    expect(await moody.consumer(report)).toMatchObject({ step: 1 })
  })
})

describe('what a trainer says as it fails', () => {
  it.each(['path', 'address', 'key'])(
    'is shown in the row, the catalog, the status and the log without a folder or a credential: %s',
    async (what) => {
      const s = await scenarioOf('leaking')
      await s.reported({ feedback: what })
      expect(await s.row(1)).toMatchObject({ metrics: { skipped: 'step failed', error: expect.any(String) } })
      await until(async () => (await s.errors()).length > 0)
      const logged = here.log.filter(({ scenario, event }) => event === 'step' && scenario === s.name)
      expect(logged).toHaveLength(1)
      const shown = JSON.stringify([await s.rows(), await s.releases(), await s.status(), await s.errors(), logged])
      expect(shown).not.toContain(here.directory)
      expect(shown).not.toContain('sk-a')
      await s.remove()
    },
  )
})

describe('an instruction', () => {
  it('waits with the component that leads, and with no other', async () => {
    const s = await fresh(here, 'hybrid', { recipe: 'pair' })
    const gate = gateIn(here)
    const asked = await s.ask(`wait ${gate.path}`)
    await gate.reached()
    const [, report] = await s.reported({ feedback: { alpha: 'skip', beta: 'skip' } })
    expect(await s.consumer(report)).toMatchObject({ consumed_ids: expect.not.arrayContaining([asked]) })
    const parts = memberOf(await s.status(), 'components')
    const waiting = ['alpha', 'beta'].map((name) => memberOf(memberOf(parts, name), 'processor')['pending_instructions'])
    expect(waiting).toEqual([1, 0])
    await gate.open()
    expect(await s.consumer(asked)).toMatchObject({ step: 2 })
  })

  it('is taken by a weight trainer where there is no other, and its job keeps the scenario from being removed [errors.409-delete]', async () => {
    const s = await scenarioOf('weights')
    await s.useMode('manual')
    const gate = gateIn(here)
    const asked = await s.ask(`wait ${gate.path}`)
    await gate.reached()
    const job = { status: 'PREPARING', training_job_id: `${s.name}:instruction:${asked}`, owner: s.name }
    expect((await here.get('/svc/status')).json['training_job']).toEqual(job)
    const refused = await s.remove()
    expect([refused.status, errorOf(refused)['code']]).toEqual([409, 'job_out'])
    await expectOthersTrain()
    await gate.open()
    expect(await s.consumer(asked)).toMatchObject({ step: 1, consumed_ids: [asked] })
    await until(async () => (await here.get('/svc/status')).json['training_job'] === null)
    expect((await s.remove()).status).toBe(200)
  })
})

describe('the evaluation of a component', () => {
  it.each(['constructor', '__proto__', 'toString'])('that has the name of something every object has is 404: %s', async (component) => {
    const s = await fresh(here, undefined, { recipe: 'pair' })
    for (const name of [s.name, neighbour.name]) {
      const answer = await here.post(`/svc/scenarios/${name}/components/${component}/evaluation/v1/chat/completions`, chat)
      expect([answer.status, errorOf(answer)['code']]).toEqual([404, 'unknown_component'])
    }
  })
})
