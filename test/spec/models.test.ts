/** A scenario's own model settings: what is shown, what is kept, what is used. */
import { readdir, stat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { until } from '../support/wait.ts'
import { sharedWorld, type Answer } from '../support/world.ts'
import { expectRefusal, named } from './support/helpers.ts'

const KEY = 'k3y-0f-0ne-sc3nari0'
const SERVICE_KEY = 'key-of-the-deployment'

const here = sharedWorld({
  backend: 'sqlite',
  settings: { 'inference.upstream_api_key': SERVICE_KEY, 'inference.upstream_model': 'default' },
})

const update = (name: string, body: object): Promise<Answer> => here.post(`/svc/scenarios/${name}/update`, body)
const viewOf = async (name: string): Promise<unknown> => (await here.post('/svc/scenarios', { name })).json['model']
const serviceModel = (): object => ({ url: here.upstream.url, model: 'default', api: 'openai', has_api_key: true })

/** The key the upstream was sent for one call of that scenario. */
async function keySent(scenario: string): Promise<unknown> {
  await here.post('/v1/chat/completions', { model: 'm', messages: [] }, named(scenario))
  return here.upstream.received.at(-1)?.headers.authorization
}

describe('the model of a scenario', () => {
  it('is shown without its key, wherever it is shown [scenario.key-hidden] [scenario.create-model]', async () => {
    const settings = { model: 'mine', api: 'responses', api_key: KEY }
    const answers = [
      await here.post('/svc/scenarios', { name: 'keyed', model: settings }),
      await here.post('/svc/scenarios', { name: 'keyed' }),
      await update('keyed', { model: settings }),
      await here.get('/svc/scenarios'),
      await here.get('/svc/status'),
      await here.get('/svc/scenarios/keyed/contract'),
    ]
    for (const { text, status } of answers) {
      expect(status).toBeLessThan(300)
      expect(text).not.toContain(KEY)
      expect(text).not.toContain(SERVICE_KEY)
    }
    expect(await viewOf('keyed')).toEqual({ url: here.upstream.url, model: 'mine', api: 'responses', has_api_key: true })
    expect(JSON.stringify(here.log)).not.toContain(KEY)
  })

  it('is kept by an existing scenario, whatever a second creation says [scenario.create-model]', async () => {
    await here.post('/svc/scenarios', { name: 'first', model: { model: 'mine' } })
    expect((await here.post('/svc/scenarios', { name: 'first', model: { model: 'other', nonsense: 1 } })).status).toBe(200)
    expect(await viewOf('first')).toMatchObject({ model: 'mine' })
  })

  it('is that of the new scenario, also when the old one of its name is still being removed [scenario.create-model]', async () => {
    await here.post('/svc/scenarios', { name: 'swapped' })
    const removed = here.ask('DELETE', '/svc/scenarios/swapped')
    await until(async () => !Object.hasOwn(Object((await here.get('/svc/status')).json['scenarios']), 'swapped'))
    const created = await here.post('/svc/scenarios', { name: 'swapped', model: { model: 'mine' } })
    expect(created).toMatchObject({ status: 201, json: { model: { model: 'mine' } } })
    expect((await removed).status).toBe(200)
  })

  it('falls back to the deployment field by field [decisions.model-settings] [decisions.model-api]', async () => {
    await here.post('/svc/scenarios', { name: 'fallback', model: { model: 'mine' } })
    expect(await viewOf('fallback')).toEqual({ ...serviceModel(), model: 'mine' })
    for (const api of ['openai', 'responses', 'anthropic', 'gemini'])
      expect((await update('fallback', { model: { api } })).json).toMatchObject({ model: { api, model: 'default' } })
  })

  it('uses its own key, and never sends the key of the deployment to another address [decisions.model-settings]', async () => {
    await here.post('/svc/scenarios', { name: 'own', model: { api_key: KEY } })
    expect(await keySent('own')).toBe(`Bearer ${KEY}`)
    await here.post('/svc/scenarios', { name: 'default' })
    expect(await keySent('default')).toBe(`Bearer ${SERVICE_KEY}`)
    const elsewhere = here.upstream.url.replace('127.0.0.1', 'localhost')
    await here.post('/svc/scenarios', { name: 'elsewhere', model: { url: elsewhere } })
    expect(await viewOf('elsewhere')).toMatchObject({ url: elsewhere, has_api_key: false })
    expect(await keySent('elsewhere')).toBeUndefined()
  })

  it('is kept in a file that only its owner can read [decisions.model-file]', async () => {
    await here.post('/svc/scenarios', { name: 'filed', model: { api_key: KEY } })
    const folder = join(here.directory, 'records', 'scenarios')
    const files = await readdir(folder, { recursive: true })
    const models = files.filter((file) => file.endsWith('model.json')).map((file) => join(folder, file))
    expect(models.length).toBeGreaterThan(0)
    for (const file of models) expect((await stat(file)).mode & 0o777).toBe(0o600)
    const texts = await Promise.all(models.map((file) => readFile(file, 'utf8')))
    expect(texts.some((text) => text.includes(KEY))).toBe(true)
  })
})

describe('an update', () => {
  it('answers the mode, and the model when one was sent [scenario.update] [decisions.scenario-update]', async () => {
    await here.post('/svc/scenarios', { name: 'updated' })
    expect((await update('updated', {})).json).toEqual({ scenario: 'updated', training_mode: 'auto' })
    const model = { ...serviceModel(), model: 'x' }
    expect((await update('updated', { model: { model: 'x' } })).json).toEqual({ scenario: 'updated', training_mode: 'auto', model })
  })

  it('with null restores the deployment defaults, key and all [scenario.update-null]', async () => {
    await here.post('/svc/scenarios', { name: 'restored', model: { model: 'mine', api_key: KEY } })
    expect((await update('restored', { model: null })).json['model']).toEqual(serviceModel())
    expect(await keySent('restored')).toBe(`Bearer ${SERVICE_KEY}`)
  })

  it.each([
    ['an unknown field', { color: 'red' }, 400],
    ['an unknown model field', { model: { model: 'new', color: 'red' } }, 400],
    ['a bad mode beside a good model', { model: { model: 'new' }, training_mode: 'sometimes' }, 400],
    ['a bad model beside a good mode', { model: { url: 'nowhere' }, training_mode: 'auto' }, 400],
    ['an unsupported mode beside a good model', { model: { model: 'new' }, training_mode: 'hybrid' }, 501],
    ['a model that is text', { model: 'new' }, 400],
  ])('with %s changes nothing at all [scenario.update] [decisions.scenario-update]', async (_, body, status) => {
    await here.post('/svc/scenarios', { name: 'whole', model: { model: 'old' } })
    expect((await update('whole', body)).status).toBe(status)
    expect(await viewOf('whole')).toEqual({ ...serviceModel(), model: 'old' })
  })

  it('of an unknown scenario is 404 [scenario.update]', async () => {
    expectRefusal(await update('unheard', { training_mode: 'auto' }), 404, 'unknown_scenario')
  })
})
