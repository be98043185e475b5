/** The examples of kinds that no setting names: loaded by path, used as a recipe uses them, and held to their suites. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  contentsConformance,
  examinerConformance,
  gatewayConformance,
  minerConformance,
  objectiveConformance,
  processorConformance,
  recipeConformance,
  redactorConformance,
  saying,
  simulatedCandidate,
  trainerConformance,
} from '../../conformance/index.ts'
import folderContents from '../../examples/contents/folder.ts'
import stillPolite from '../../examples/examiner/still-polite.ts'
import byFetch from '../../examples/gateway/by-fetch.ts'
import lines from '../../examples/miner/lines.ts'
import betterHalf from '../../examples/objective/better-half.ts'
import everyRecord from '../../examples/processor/every-record.ts'
import mostAsked from '../../examples/trainer/most-asked.ts'
import orderNumbers from '../../examples/redactor/order-numbers.ts'
import putTogether from '../../examples/trainer/put-together.ts'
import { loadPlugin } from '../../src/config/index.ts'
import {
  BATCH_BYTES_MAX,
  type Examiner,
  type Json,
  type Kind,
  type Miner,
  type Objective,
  type Parts,
  type PendingRecord,
  type Prepared,
  type Rollout,
  type Sample,
  type StepOrder,
  type StepResult,
} from '../../src/contract/index.ts'
import { expectFound } from './faults.ts'
import { fillDisk, mountDisk, sharedFolder, temporaryFolder } from '../support/folder.ts'
import { startUpstream, type Script, type Upstream } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { ownWorld } from '../support/world.ts'

const scenario = { 'x-svc-scenario': 'examples' }

const LOADED_BY_PATH: readonly (readonly [Kind, string, object])[] = [
  ['processor', './examples/processor/every-record.ts', everyRecord.plugin],
  ['trainer', './examples/trainer/most-asked.ts', mostAsked.plugin],
  ['gateway', './examples/gateway/by-fetch.ts', byFetch.plugin],
  ['contents', './examples/contents/folder.ts', folderContents.plugin],
  ['miner', './examples/miner/lines.ts', lines.plugin],
  ['redactor', './examples/redactor/order-numbers.ts', orderNumbers.plugin],
  ['examiner', './examples/examiner/still-polite.ts', stillPolite.plugin],
  ['objective', './examples/objective/better-half.ts', betterHalf.plugin],
]

describe('an example', () => {
  it.each(LOADED_BY_PATH)('of a %s, %s, is loaded by its path', async (kind, path, plugin) => {
    expect(await loadPlugin(kind, path, {}, process.cwd())).toBe(plugin)
  })
})

describe('examples/redactor/order-numbers.ts', () => {
  it('takes its numbers out of what is stored, and of nothing that the client is sent', async () => {
    const redactor = './examples/redactor/order-numbers.ts'
    const service = await ownWorld({ settings: { 'recording.mode': 'redacted', 'recording.redactor': redactor } })
    const body = { model: 'm', messages: [{ role: 'user', content: 'Where is ORD-123456?' }] }
    const answer = await service.post('/v1/chat/completions', body, scenario)
    expect(service.upstream.received.at(-1)?.body.toString()).toContain('ORD-123456')
    const record = await service.get(`/svc/scenarios/examples/records/${String(answer.headers['x-svc-agent-record-id'])}`)
    expect(record.json).toMatchObject({ payload: { messages: [{ content: 'Where is [order]?' }] } })
  })

  redactorConformance({ describe, it, make: () => orderNumbers.plugin.make({}), personal: 'Where is ORD-123456?' })
})

const parts: Parts = {
  plugin: (kind, name) => loadPlugin(kind, name, {}, process.cwd()),
  baseDirectory: process.cwd(),
  warn: () => undefined,
}
const recipe = await putTogether.plugin.make({}, parts)

describe('examples/trainer/put-together.ts', () => {
  it('learns from ten exchanges with the processor and the trainer that it names', async () => {
    const service = await ownWorld({ settings: { recipe: './examples/trainer/put-together.ts' } })
    for (let asked = 0; asked < 10; asked += 1) await service.exchange('examples')
    const trained = async (): Promise<boolean> =>
      (await service.get('/svc/scenarios/examples/commits')).text.includes('"operation":"train"')
    await until(trained)
    expect((await service.get('/svc/harness', scenario)).json).toMatchObject({ files: { 'models.md': '- m\n' } })
    expect((await service.get('/svc/scenarios/examples/contract')).json).toMatchObject({ processor: 'every-record' })
  })

  recipeConformance({ describe, it, recipe })
})

const asked = (...models: readonly Json[]): readonly Sample[] =>
  models.map((model) => ({ record_ids: [], exchanges: [{ model }], score: null, feedback: null }))

const take = async (samples: readonly Sample[], before: Pick<StepOrder, 'files' | 'state'>): Promise<StepResult> => {
  const base = { release_id: 'r', parent_release_id: null, content_id: 'c' }
  const order = { step: 1, batch: { id: 'b', samples, request: null }, base, model: { model: null, api: 'openai' } as const, ...before }
  const trainer = await mostAsked.plugin.make({})
  return trainer.step(order, { phase: () => undefined, line: () => undefined }, new AbortController().signal)
}

describe('examples/trainer/most-asked.ts', () => {
  it('goes on from the counts of the step before, and publishes when the order changes', async () => {
    const state = { counts: { a: 2, b: 1 } }
    const before = { files: { 'models.md': '- a\n- b\n' }, state }
    expect(await take(asked('a'), before)).toMatchObject({ kind: 'skip', state: { counts: { a: 3, b: 1 } } })
    expect(await take(asked('b', 'b'), before)).toMatchObject({
      kind: 'publish',
      content: { files: { 'models.md': '- b\n- a\n' } },
      state: { counts: { b: 3, a: 2 } },
    })
  })

  it('counts no model that a client made up to write in the list, and remembers a hundred at most', async () => {
    const before = { files: {}, state: {} }
    expect(await take(asked('a\n- b', '', 7, null, 'x'.repeat(101)), before)).toMatchObject({ kind: 'skip', state: { counts: {} } })
    const many = Array.from({ length: 101 }, (_, n) => `model-${n}`)
    expect(await take(asked(...many), before)).toMatchObject({ kind: 'publish', metrics: { models: 100 } })
  })

  trainerConformance({ describe, it, make: () => mostAsked.plugin.make({}), files: {}, isRepeatable: true })
})

const provided = async (script: Script): Promise<Upstream> => {
  const provider = await startUpstream()
  onTestFinished(() => provider.close())
  provider.answer(script)
  return provider
}

describe('examples/gateway/by-fetch.ts', () => {
  const signal = new AbortController().signal
  it("asks with the provider's own key, and carries it nowhere else", async () => {
    const provider = await provided((_received, response) => void response.writeHead(307, { location: '/elsewhere' }).end())
    const gateway = await byFetch.plugin.make({ url: provider.url, api_key: 'sk-provider' })
    expect(await gateway.relay('images', Buffer.from('{}'), signal)).toMatchObject({ status: 307 })
    expect(provider.received.map(({ url, headers }) => [url, headers.authorization])).toEqual([['/v1/images', 'Bearer sk-provider']])
  })

  it('gives up a provider that never answers', async () => {
    const provider = await provided(() => undefined)
    const gateway = await byFetch.plugin.make({ url: provider.url, timeout_s: 0.01 })
    await expect(gateway.relay('images', Buffer.from('{}'), signal)).rejects.toMatchObject({ kind: 'upstream', code: 'no_answer' })
    await until(() => provider.open === 0)
  })

  it.each([
    [{}, 'gateway_url'],
    [{ url: 'http://127.0.0.1:1', timeout_s: 'soon' }, 'gateway_timeout'],
  ])('refuses settings that it cannot use', async (config, code) => {
    await expect(async () => byFetch.plugin.make(config)).rejects.toMatchObject({ kind: 'invalid', code })
  })

  gatewayConformance({ describe, it, make: (url) => byFetch.plugin.make({ url }) })
})

describe('examples/contents/folder.ts', () => {
  it('keeps texts, large files and releases when it is opened again', async () => {
    const repository = temporaryFolder()
    const checkpoint = temporaryFolder()
    await writeFile(join(checkpoint, 'model.bin'), 'weights')
    const first = await folderContents.plugin.make({ repository })
    const id = await first.write({ kind: 'checkpoint', path: checkpoint })
    const release = await first.seal(id, null, { step: 0, operation: 'create', at: 0 })
    await first.close()

    const second = await folderContents.plugin.make({ repository })
    expect(await second.find(release.release_id)).toEqual(release)
    expect(await readFile(join(await second.unpack(id), 'model.bin'), 'utf8')).toBe('weights')
    await second.close()
  })

  it('has no content that a full disk kept it from writing, and takes it once there is room', async () => {
    const repository = mountDisk('size=1m')
    const store = await folderContents.plugin.make({ repository })
    const free = fillDisk(repository)
    const content = { kind: 'files', files: { 'AGENTS.md': 'x'.repeat(10_000) } } as const
    await expect(store.write(content)).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(await readdir(join(repository, 'contents'))).toEqual([])
    free()
    expect(await store.read(await store.write(content))).toEqual(content.files)
    await store.close()
  })

  contentsConformance({ describe, it, make: () => folderContents.plugin.make({ repository: temporaryFolder() }) })
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

const questions = join(sharedFolder(), 'questions.tsv')
await writeFile(questions, 'Which is the capital of France?\tParis\nno answer\nHow much is 2 + 2?\t4\n')
const miner = await lines.plugin.make({})

describe('examples/miner/lines.ts', () => {
  minerConformance({ describe, it, miner, source: questions })
})

describe('the suite of miners', () => {
  const task = { name: 'a', prompt: 'p', data: {}, origin: 'a', module: 'm' }
  const twoOf = (first: object, second: object = { name: 'b', origin: 'b' }): Miner => ({
    async *mine({ known }) {
      for (const each of [
        { ...task, ...first },
        { ...task, ...second },
      ])
        if (!known.has(each.origin)) yield each
    },
  })
  it.each<readonly [string, Miner, string]>([
    ['one task', twoOf({}, { origin: 'a' }), 'one name or one origin'],
    ['a name that is no folder', twoOf({ name: '../a' }), 'plain data'],
    ['a blank prompt', twoOf({ prompt: ' ' }), 'plain data'],
    ['a file that leads out', twoOf({ files: { '../a': '' } }), 'plain data'],
    ['a verifier among the files of the agent', twoOf({ data: { verify_files: { a: '' } } }), 'plain data'],
    ['what is known', { mine: (order) => twoOf({}).mine({ ...order, known: new Set() }) }, 'finds the same again'],
  ])('finds a miner with %s', async (_what, faulty, words) => {
    await expectFound(words, (runner) => minerConformance({ ...runner, miner: faulty, source: '' }))
  })
})

describe('examples/examiner/still-polite.ts', () => {
  it.each([
    ['Good morning to you!', true],
    ['What do you want?', false],
  ])('of a candidate that says %s decides %s', async (text, select) => {
    const candidate = simulatedCandidate(saying(text))
    expect(await stillPolite.plugin.examine(candidate, new AbortController().signal)).toEqual({ select, metrics: { polite: select } })
  })

  examinerConformance({ describe, it, examiner: stillPolite.plugin })
})

let count = 0
const question = { messages: [{ role: 'user', content: 'well?' }] }

describe('the suite of examiners', () => {
  it.each<readonly [string, Examiner['examine'], string]>([
    ['no decision', () => Promise.resolve(JSON.parse('{}')), 'it decides'],
    ['metrics that are no JSON', () => Promise.resolve({ select: true, metrics: { score: Number.NaN } }), 'it decides'],
    [
      'trust in the answer',
      (candidate) => candidate.try((tryout) => tryout.chat(question)).then((answer) => JSON.parse(JSON.stringify(answer['x']))),
      'it decides',
    ],
    ['another decision each time', () => Promise.resolve({ select: true, metrics: { count: (count += 1) } }), 'decided on the same'],
    [
      'a hand in the metrics',
      (candidate) => Promise.resolve({ select: true, metrics: Object.assign(candidate.metrics, { loss: 0 }) }),
      'afterwards what they were',
    ],
    [
      'a blind eye',
      (candidate, signal) => stillPolite.plugin.examine(candidate, signal).catch(() => ({ select: true })),
      'cannot be loaded',
    ],
    [
      'ears that are shut',
      async (candidate) => {
        await candidate.try((tryout) => tryout.chat(question)).catch(() => new Promise(() => undefined))
        return { select: true }
      },
      'after an abort',
    ],
  ])('finds an examiner with %s', async (_what, examine, words) => {
    await expectFound(words, (runner) => examinerConformance({ ...runner, examiner: { examine } }))
  })
})

describe('examples/objective/better-half.ts', () => {
  objectiveConformance({ describe, it, objective: betterHalf.plugin })
})

type Advantages = Extract<Prepared, { kind: 'train' }>['advantages']
const weighing =
  (weigh: (rollouts: readonly Rollout[]) => Advantages): Objective['prepare'] =>
  (rollouts) =>
    rollouts.length === 0 ? { kind: 'skip', reason: 'nothing' } : { kind: 'train', advantages: weigh(rollouts) }

describe('the suite of objectives', () => {
  it.each<readonly [string, Partial<Objective>, string]>([
    ['no name', { name: ' ' }, 'it has a name'],
    ['a ratio without log-probabilities', { needsLogProbs: false }, 'it has a name'],
    ['a setting of its loss that is no number', { lossConfig: { clip: Number.NaN } }, 'it has a name'],
    ['a rollout left out', { prepare: weighing((rollouts) => rollouts.slice(1).map(() => 1)) }, 'of a plain batch'],
    ['a weight for each token of the prompt too', { prepare: weighing((all) => all.map(({ tokens }) => tokens)) }, 'of a plain batch'],
    ['nothing to learn, ever', { prepare: () => ({ kind: 'skip', reason: 'no' }) }, 'of a plain batch'],
    ['another answer each time', { prepare: weighing((all) => all.map(() => (count += 1))) }, 'give the same answer'],
    [
      'rollouts that it changes',
      { prepare: weighing((all) => (Object.assign(all[0] ?? {}, { score: 9 }), all.map(() => 1))) },
      'give the same',
    ],
    [
      'a state that is no JSON',
      { prepare: (...given) => ({ ...betterHalf.plugin.prepare(...given), state: { at: Number.NaN } }) },
      'of a plain batch',
    ],
    [
      'trust in its state',
      { prepare: (all, { baseline }) => (typeof baseline === 'string' ? JSON.parse(baseline) : betterHalf.plugin.prepare(all, {})) },
      'left for itself',
    ],
    ['a division by nothing', { prepare: weighing((all) => all.map(({ score }) => 1 / (score ?? 0))) }, 'no scores'],
    ['a sum without bound', { prepare: weighing((all) => all.map(({ score }) => (score ?? 0) * 2)) }, 'greatest size'],
    ['something made of nothing', { prepare: (all) => ({ kind: 'train', advantages: all.map(() => 1) }) }, 'with nothing there'],
    ['the same weight for all', { prepare: weighing((all) => all.map(() => 1)) }, 'best weighs more'],
    ['the worst first', { prepare: weighing((all) => all.map(({ score }) => -(score ?? 0))) }, 'best weighs more'],
  ])('finds an objective with %s', async (_what, change, words) => {
    await expectFound(words, (runner) => objectiveConformance({ ...runner, objective: { ...betterHalf.plugin, ...change } }))
  })
})
