/** The examples of docs/extend are plug-ins that work: loaded by path as an operator would, and held to their suites. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  adapterConformance,
  evaluatorConformance,
  executorConformance,
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
import oneRule from '../../examples/proposer/one-rule.ts'
import houseRules from '../../examples/recipe/house-rules.ts'
import textCounter from '../../examples/recipe/text-counter.ts'
import echo from '../../examples/runtime/echo.ts'
import moreWins from '../../examples/selection/more-wins.ts'
import journal from '../../examples/store/journal.ts'
import type { Entry, Episode, ModelAddress, Question, Task, Trainer } from '../../src/contract/index.ts'
import { renderTree } from '../../src/harness/index.ts'
import { textAt } from '../spec/support/helpers.ts'
import type { Settings } from '../support/settings.ts'
import { temporaryFolder } from '../support/folder.ts'
import { until } from '../support/wait.ts'
import { ownWorld, type World } from '../support/world.ts'
import { followDocument } from './blocks.ts'

const scenario = { 'x-svc-scenario': 'examples' }
/** What git calls a tree without files. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const question = { model: 'm', messages: [{ role: 'user', content: 'good morning' }] }

const model: ModelAddress = { url: '', model: null, api: 'openai', apiKey: null }

const serviceWith = (settings: Settings): Promise<World> => ownWorld({ settings })

/** Files a request for a change and waits until it is settled. */
async function request(service: World, text: string): Promise<void> {
  await service.post('/svc/scenarios', { name: 'examples' })
  const asked = await service.post('/svc/train', { text, session: 's', release_id: 'r' }, scenario)
  const progress = `/svc/harness/requests/${textAt(asked.json, 'agent_record_id')}/progress`
  await until(async () => (await service.get(progress, scenario)).json['settled'] === true)
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
    await request(service, 'Count in dozens.')
    expect((await service.get('/svc/harness', scenario)).json).toMatchObject({ files: { 'pi-agent/AGENTS.md': 'Count in dozens.\n' } })
  })
})

describe('examples/recipe/text-counter.ts', () => {
  const settings = {
    recipe: 'counter',
    'recipes.counter.use': './examples/recipe/text-counter.ts',
    'recipes.counter.data.training_mode': 'hybrid',
  }

  it('does what docs/extend/recipe.md shows: counts a report, and notes each request', async () => {
    const service = await serviceWith(settings)
    const document = 'docs/extend/recipe.md'
    const { blocks } = await followDocument(document, temporaryFolder(), { SVC_URL: service.address })
    const [, counted = '', noted = ''] = blocks
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

const rule: Entry = { id: 'rule-1', name: 'rules', config: { text: 'Answer in one sentence.' } }
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
  const task: Task = { name: 'sum', prompt: 'What is 40 + 2?', role: 'gate', data: { answer: '42' } }
  evaluatorConformance({ describe, it, evaluator: lastLine.plugin, task, good: episode, bad: { ...episode, stdout: '42\nor so\n' } })
})

describe('examples/selection/more-wins.ts', () => {
  it('counts a task won and a task lost, and no task that neither could do', () => {
    const task: Task = { name: 't', prompt: 'p', role: 'gate' }
    const scores = [
      [0, 1],
      [null, 0],
      [1, null],
      [null, null],
    ] as const
    const pairs = scores.map(([current, candidate], repeat) => ({ task, repeat, current, candidate }))
    const history = { decided: 0, selected: 0 }
    const asked: Question = { kind: 'traffic', tasks: [task], pairs, repeats: 4, episodesLeft: null, seed: 's', history }
    expect(moreWins.plugin.decide(pairs, asked)).toEqual({ selected: true, reason: '2 won and 1 lost of 4' })
  })

  selectionConformance({ describe, it, selection: moreWins.plugin })
})

describe('examples/proposer/one-rule.ts', () => {
  proposerConformance({ describe, it, proposer: oneRule.plugin, adapter: rulebook.plugin, entries })
})

/** Answers from its rules. */
const AGENT = `#!/bin/sh
cat "$2/RULES.md" 2>/dev/null || echo 'no idea'
`

describe('examples of the four slots of evolution', () => {
  it('improve a harness together, each named by its setting', async () => {
    const home = temporaryFolder()
    const binary = join(home, 'agent')
    await writeFile(binary, AGENT, { mode: 0o755 })
    const service = await serviceWith({
      recipe: 'harness',
      'data.training_mode': 'manual',
      'evolution.adapter': './examples/adapter/rulebook.ts',
      'evolution.binary': binary,
      'evolution.proposer': './examples/proposer/one-rule.ts',
      'evolution.executor': './examples/executor/folder.ts',
      'evolution.evaluator': './examples/evaluator/last-line.ts',
      'evolution.selection': './examples/selection/more-wins.ts',
      'evolution.tasks': JSON.stringify([{ name: 'sum', prompt: 'What is 40 + 2?', answer: '42' }]),
      'evolution.proposals_dir': join(home, 'proposals'),
      'evolution.step_record_dir': join(home, 'steps'),
    })
    await request(service, '42')
    expect((await service.get('/svc/harness', scenario)).json).toMatchObject({ files: { 'RULES.md': '42\n' } })
    expect((await service.get('/svc/harness/releases', scenario)).text).toContain('1 won and 0 lost of 1')
  })
})

/** A comment may be left out of a quotation, and nothing else. */
const withoutComments = (text: string): string => text.replaceAll(/^ *\/\*\*.*\*\/\n/gm, '')
const read = (path: string): Promise<string> => readFile(path, 'utf8')

/** Those that a page shows whole are written by `npm run docs`. */
describe('a page quotes its example as it is', () => {
  it.each([
    ['trainer', ['examples/trainer/most-asked.ts', 'examples/trainer/put-together.ts']],
    ['contents', ['examples/contents/folder.ts']],
    ['processor', ['examples/processor/every-record.ts']],
    ['adapter', ['examples/adapter/rulebook.ts']],
    ['executor', ['examples/executor/folder.ts']],
  ])('docs/extend/%s.md: %s', async (page, paths) => {
    const [, section = ''] = /^## The smallest([\s\S]*?)^## /m.exec(await read(`docs/extend/${page}.md`)) ?? []
    const quoted = [...section.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text = '']) => withoutComments(text))
    const examples = await Promise.all(paths.map(async (path) => withoutComments(await read(path))))
    expect(quoted).toEqual(examples.map((example) => quoted.find((text) => example.includes(text)) ?? example))
  })
})
