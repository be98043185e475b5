/** The examples of docs/extend are plug-ins that work: loaded by path as an operator would, and held to their suites. */
import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, it } from 'vitest'
import {
  adapterConformance,
  evaluatorConformance,
  executorConformance,
  processorConformance,
  proposerConformance,
  recipeConformance,
  runtimeConformance,
  selectionConformance,
  storeConformance,
  trainerConformance,
} from '../../conformance/index.ts'
import rulebook from '../../examples/adapter/rulebook.ts'
import lastLine from '../../examples/evaluator/last-line.ts'
import folder from '../../examples/executor/folder.ts'
import everyRecord from '../../examples/processor/every-record.ts'
import oneRule from '../../examples/proposer/one-rule.ts'
import houseRules from '../../examples/recipe/house-rules.ts'
import textCounter from '../../examples/recipe/text-counter.ts'
import echo from '../../examples/runtime/echo.ts'
import moreWins from '../../examples/selection/more-wins.ts'
import journal from '../../examples/store/journal.ts'
import { loadPlugin } from '../../src/config/index.ts'
import {
  BATCH_BYTES_MAX,
  type Entry,
  type Episode,
  type Kind,
  type ModelAddress,
  type PendingRecord,
  type Trainer,
} from '../../src/contract/index.ts'
import { renderTree } from '../../src/harness/index.ts'
import { textAt } from '../spec/support/speak.ts'
import type { Settings } from '../support/settings.ts'
import { temporaryFolder } from '../support/folder.ts'
import { until } from '../support/wait.ts'
import { world, type World } from '../support/world.ts'
import { runDocument, shellBlocks } from './blocks.ts'

const scenario = { 'x-svc-scenario': 'examples' }
/** What git calls a tree without files. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const question = { model: 'm', messages: [{ role: 'user', content: 'good morning' }] }

const model: ModelAddress = { url: '', model: null, api: 'openai', apiKey: null }

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

  recipeConformance({ describe, it, recipe: houseRules.plugin })
})

describe('examples/recipe/standing-orders.ts', () => {
  it('makes a rule of every instruction', async () => {
    const service = await serviceWith({
      recipe: './examples/recipe/standing-orders.ts',
      'data.training_mode': 'manual',
      'evolution.adapter': 'pi',
    })
    await service.post('/svc/scenarios', { name: 'examples' })
    const asked = await service.post('/svc/train', { text: 'Count in dozens.', session: 's', release_id: 'r' }, scenario)
    const progress = `/svc/harness/requests/${textAt(asked.json, 'agent_record_id')}/progress`
    await until(async () => (await service.get(progress, scenario)).json['settled'] === true)
    expect((await service.get('/svc/harness', scenario)).json).toMatchObject({ files: { 'pi-agent/AGENTS.md': 'Count in dozens.\n' } })
  })
})

describe('examples/recipe/text-counter.ts', () => {
  const settings = {
    recipe: 'counter',
    'recipes.counter.use': './examples/recipe/text-counter.ts',
    'recipes.counter.data.training_mode': 'hybrid',
  }

  it('does what docs/extend/recipe.md shows: counts a report, and notes what it is told', async () => {
    const service = await serviceWith(settings)
    const document = 'docs/extend/recipe.md'
    const session = await runDocument(document, temporaryFolder(), { SVC_URL: service.address })
    expect(session.code, session.errors).toBe(0)
    expect(session.blocks).toHaveLength((await shellBlocks(document)).length)
    const [, counted = '', noted = ''] = session.blocks
    expect(JSON.parse(counted)).toMatchObject({ commits: [{ operation: 'train', pending: false, metrics: { reports: 1 } }] })
    expect(JSON.parse(noted)).toMatchObject({ state: 'published', settled: true })
  })

  for (const batch_policy of ['reports', 'records'])
    describe(`learning from ${batch_policy}`, () => {
      recipeConformance({ describe, it, recipe: textCounter.plugin, config: { data: { batch_policy } } })
    })

  describe('its trainer', () => {
    const scope = { scenario: 'examples', component: '', config: {}, evaluation: model, directory: '' }
    const make = async (): Promise<Trainer> => {
      const plan = textCounter.plugin.trainers?.({})['']
      if (plan === undefined) throw new Error('the example has a single trainer')
      return plan.open(scope)
    }
    trainerConformance({ describe, it, make, files: textCounter.plugin.seed ?? {}, isRepeatable: true })
  })
})

const exchange = (sequence: number, payload: Uint8Array): PendingRecord => ({
  sequence,
  agent_record_id: `exchange-${sequence}`,
  request_type: 'inference',
  created_at: 0,
  references: [],
  artifact_ref: null,
  score: null,
  payload,
  quoted: [],
})

describe('examples/processor/every-record.ts', () => {
  it('ends a batch that would grow too large, and lets what is too large by itself go alone', async () => {
    const processor = await everyRecord.plugin.make({})
    // Never written to, so they take no memory.
    const sizes = [BATCH_BYTES_MAX + 1, BATCH_BYTES_MAX / 2, BATCH_BYTES_MAX / 2, 1]
    for (const [at, size] of sizes.entries()) processor.ingest(exchange(at + 1, Buffer.alloc(size)))
    const batches = [[1], [2, 3], [4]].map((batch) => batch.map((sequence) => `exchange-${sequence}`))
    for (const ids of batches) {
      const { samples, ready } = processor.next(true)
      expect([samples.flatMap(({ record_ids }) => record_ids), ready]).toEqual([ids, ids !== batches.at(-1)])
      processor.settle(ids)
    }
  })

  processorConformance({ describe, it, make: () => everyRecord.plugin.make({}) })
})

const rule: Entry = { id: 'rule-1', name: 'rule', config: { text: 'Answer in one sentence.' } }
const entries: readonly Entry[] = [rule, { ...rule, id: 'rule-2', config: { text: 'Be polite.' } }]
const episode: Episode = { exitCode: 0, stdout: 'thinking\n42\n', stderr: '', trajectory: [] }

describe('examples/adapter/rulebook.ts', () => {
  const tree: readonly Entry[] = [
    { id: 'settings', name: 'config', config: { data: { theme: 'dark' } } },
    { id: 'brief', name: 'rules', config: { text: 'Answer in one sentence.' } },
    { id: 'polite', name: 'rules', config: { text: 'Be polite.' } },
    { id: 'counting', name: 'skill', config: { name: 'counting', text: 'Count aloud.' } },
  ]

  it('renders the entries that are in force', () => {
    expect(renderTree(rulebook.plugin, [...tree, { id: 'off', name: 'rules', config: { text: 'Shout.' }, disabled: true }])).toEqual({
      'settings.json': '{\n  "telemetry": false,\n  "theme": "dark"\n}\n',
      'model.json': '{}\n',
      'RULES.md': 'Answer in one sentence.\n\nBe polite.\n',
      'skills/counting.md': 'Count aloud.\n',
    })
  })

  it('is served by the harness recipe, by its path, and listed beside the built-in ones', async () => {
    const service = await serviceWith({
      recipe: 'harness',
      'evolution.adapter': './examples/adapter/rulebook.ts',
      'evolution.seed': JSON.stringify(tree),
    })
    await service.post('/svc/scenarios', { name: 'examples' })
    expect((await service.get('/svc/harness', scenario)).json).toMatchObject({ files: renderTree(rulebook.plugin, tree) })
    expect((await service.get('/svc/harness/adapters')).text).toContain('"rulebook-agent"')
  })

  adapterConformance({ describe, it, adapter: rulebook.plugin, entries: tree })
})

describe('examples/executor/folder.ts', () => {
  executorConformance({ describe, it, make: () => folder.plugin.make({}) })
})

describe('examples/evaluator/last-line.ts', () => {
  const task = { name: 'sum', prompt: 'What is 40 + 2?', data: { answer: '42' } }
  evaluatorConformance({ describe, it, evaluator: lastLine.plugin, task, good: episode, bad: { ...episode, stdout: '42\nor so\n' } })
})

describe('examples/selection/more-wins.ts', () => {
  it('counts a task won and a task lost, and no task that neither could do', () => {
    const task = { name: 't', prompt: 'p' }
    const pairs = [
      { task, current: 0, candidate: 1 },
      { task, current: null, candidate: 0 },
      { task, current: 1, candidate: null },
      { task, current: null, candidate: null },
    ]
    expect(moreWins.plugin.decide(pairs)).toEqual({ selected: true, reason: '2 won and 1 lost of 4' })
  })

  selectionConformance({ describe, it, selection: moreWins.plugin })
})

describe('examples/proposer/one-rule.ts', () => {
  proposerConformance({ describe, it, proposer: oneRule.plugin, entries })
})

const LOADED_BY_PATH: readonly (readonly [Kind, string, object])[] = [
  ['processor', './examples/processor/every-record.ts', everyRecord.plugin],
  ['executor', './examples/executor/folder.ts', folder.plugin],
  ['evaluator', './examples/evaluator/last-line.ts', lastLine.plugin],
  ['selection', './examples/selection/more-wins.ts', moreWins.plugin],
  ['proposer', './examples/proposer/one-rule.ts', oneRule.plugin],
]

describe('a kind that no setting names yet', () => {
  it.each(LOADED_BY_PATH)('%s: %s is loaded by its path', async (kind, path, plugin) => {
    expect(await loadPlugin(kind, path, {}, process.cwd())).toBe(plugin)
  })
})

/** A comment may be left out of a quotation, and nothing else. */
const withoutComments = (text: string): string => text.replaceAll(/^ *\/\*\*.*\*\/\n/gm, '')
const read = (path: string): Promise<string> => readFile(path, 'utf8')

describe('a page quotes its example as it is', () => {
  it.each([
    ['recipe', 'examples/recipe/text-counter.ts'],
    ['trainer', 'examples/recipe/text-counter.ts'],
    ['processor', 'examples/processor/every-record.ts'],
    ['adapter', 'examples/adapter/rulebook.ts'],
    ['executor', 'examples/executor/folder.ts'],
    ['evaluator', 'examples/evaluator/last-line.ts'],
    ['selection', 'examples/selection/more-wins.ts'],
    ['proposer', 'examples/proposer/one-rule.ts'],
  ])('docs/extend/%s.md: %s', async (page, path) => {
    const section = (await read(`docs/extend/${page}.md`)).split(/^## The smallest/m)[1] ?? ''
    const quoted = /^```ts\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? 'nothing is quoted'
    expect(withoutComments(await read(path))).toContain(withoutComments(quoted))
  })
})
