/** The examples of docs/extend are plug-ins that work: loaded by path as an operator would, and held to their suites. */
import { afterEach, describe, expect, it } from 'vitest'
import { runtimeConformance, storeConformance } from '../../conformance/index.ts'
import echo from '../../examples/runtime/echo.ts'
import journal from '../../examples/store/journal.ts'
import type { ModelAddress } from '../../src/contract/index.ts'
import type { Settings } from '../support/settings.ts'
import { world, type World } from '../support/world.ts'

const scenario = { 'x-svc-scenario': 'examples' }
/** What git calls a tree without files. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const question = { model: 'm', messages: [{ role: 'user', content: 'good morning' }] }

let here: World | null = null
afterEach(async () => {
  await here?.close()
  here = null
})

async function serviceWith(settings: Settings): Promise<World> {
  here = await world({ settings })
  return here
}

describe('examples/runtime/echo.ts', () => {
  const settings = { 'inference.runtime': './examples/runtime/echo.ts' }

  it('answers, and the exchange is kept under a receipt', async () => {
    const service = await serviceWith(settings)
    const answer = await service.post('/v1/chat/completions', question, scenario)
    expect(answer.json).toMatchObject({ choices: [{ message: { content: 'good morning' } }] })
    const record = await service.get(`/svc/scenarios/examples/records/${String(answer.headers['x-svc-agent-record-id'])}`)
    expect(record.json).toMatchObject({ payload: { ...question, response: { object: 'chat.completion' } } })
    expect((await service.get('/svc/status')).json).toMatchObject({ serving: { runtime: 'echo' } })
  })

  it('streams in every format, each with its receipt', async () => {
    const service = await serviceWith(settings)
    for (const [path, body] of [
      ['/v1/chat/completions', question],
      ['/v1/responses', { model: 'm', input: 'good morning' }],
      ['/v1/messages', { ...question, max_tokens: 10 }],
    ] as const) {
      const answer = await service.post(path, { ...body, stream: true }, scenario)
      const receipt = /"svc\.agent_record_id":"([0-9a-f]{32})"/.exec(answer.text)?.[1]
      const record = await service.get(`/svc/scenarios/examples/records/${receipt}`)
      expect(JSON.stringify(record.json['payload'])).toContain('"complete":true')
    }
  })

  it('has its refusals relayed with its words', async () => {
    const service = await serviceWith(settings)
    const answer = await service.post('/v1/messages', { messages: [] }, scenario)
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ type: 'error', error: { message: 'there is nothing to say back' } })
  })

  const model: ModelAddress = { url: '', model: null, api: 'openai', apiKey: null }
  runtimeConformance({ describe, it, make: async () => ({ runtime: await echo.plugin.make({}), model }) })
})

describe('examples/store/journal.ts', () => {
  it('keeps records over a restart', async () => {
    const service = await serviceWith({ 'storage.record_backend': './examples/store/journal.ts' })
    const receipt = await service.exchange('examples')
    await service.restart()
    const record = await service.get(`/svc/scenarios/examples/records/${receipt}`)
    expect(record.json).toMatchObject({ sequence: 1, agent_record_id: receipt })
  })

  storeConformance({ describe, it, open: (config) => journal.plugin.make(config), isLasting: true })
})

describe('examples/recipe/house-rules.ts', () => {
  const settings = { recipe: 'house', 'recipes.house.use': './examples/recipe/house-rules.ts' }

  it('forwards and records what it made of the request', async () => {
    const service = await serviceWith(settings)
    const receipt = await service.exchange('examples')
    const messages = [{ role: 'system', content: 'Answer in one sentence.' }]
    expect(JSON.parse(String(service.upstream.received.at(-1)?.body))).toEqual({ model: 'm', messages })
    const record = await service.get(`/svc/scenarios/examples/records/${receipt}`)
    expect(record.json).toMatchObject({ payload: { messages } })
  })

  it('refuses reports that its rules do not take', async () => {
    const service = await serviceWith(settings)
    const receipt = await service.exchange('examples')
    const bad = await service.post('/svc/report', { score: 7, references: [receipt] }, scenario)
    expect(bad.status).toBe(400)
    expect(bad.json).toMatchObject({ error: { code: 'report_schema', message: 'score: must be a number from 0 to 1' } })
    expect((await service.post('/svc/report', { score: 1, references: [receipt] }, scenario)).status).toBe(200)
  })

  it('shows itself on the contract route and gives a new scenario its seed', async () => {
    const service = await serviceWith({ ...settings, 'storage.record_backend': 'sqlite' })
    const created = await service.post('/svc/scenarios', { name: 'seeded' })
    expect(created.json['content_id']).not.toBe(EMPTY_TREE)
    const contract = await service.get('/svc/scenarios/seeded/contract')
    expect(contract.json).toMatchObject({ processor: 'house-rules', required_request_types: ['inference', 'report'] })
  })
})
