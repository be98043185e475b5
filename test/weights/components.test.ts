/** One scenario of weights and a harness: each improved by its own trainer, served together, and rolled back together. */
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { POWERS, type JsonObject } from '../../src/contract/index.ts'
import { named, textAt } from '../spec/support/helpers.ts'
import { memberOf } from '../spec/support/trainee.ts'
import { sharedFolder } from '../support/folder.ts'
import { until } from '../support/wait.ts'
import { pupil, sharedTraining } from './support/pupil.ts'
import { openTrainingWorld, PROMPT, say } from './support/training-world.ts'

const GROUP = 8
const COMMIT = /^[0-9a-f]{40}$/
const PROPOSER = join(import.meta.dirname, '..', 'fixtures', 'evolution', 'word-proposer.ts')
const ADAPTER = join(import.meta.dirname, '..', 'fixtures', 'weights', 'asking-adapter.ts')
const folder = sharedFolder()

const { world } = sharedTraining(() =>
  openTrainingWorld({
    recipe: 'weights-and-harness',
    'training.group_size': GROUP,
    'training.learning_rate': 0.01,
    'training.checkpoint_every': 3,
    'evolution.adapter': ADAPTER,
    'evolution.binary': process.execPath,
    'evolution.executor': 'local',
    'evolution.selection': 'score_comparison',
    'evolution.publish_powers': JSON.stringify(POWERS),
    'evolution.proposer': PROPOSER,
    'evolution.proposals_dir': join(folder, 'proposals'),
    'evolution.step_record_dir': join(folder, 'steps'),
  }),
)
const s = pupil(world, 'both')
/** An answer that the base would not prefer. */
let wanted: string
beforeAll(async () => {
  const { text: likeliest } = await say(world, 'untrained', { temperature: 0 })
  wanted = likeliest === 'blue' ? 'green' : 'blue'
  await world.restart({
    'evolution.tasks': JSON.stringify([{ name: 'colour', prompt: 'Tell me the time?', answer: wanted }]),
  })
})

const partsOf = (row: JsonObject): JsonObject => memberOf(row, 'components')
const idOf = (row: JsonObject): string => textAt(row, 'release_id')
const filesOf = async (): Promise<JsonObject> => memberOf((await world.get('/svc/harness', named(s.name))).json, 'files')

const publishedBy = async (component: string): Promise<number> =>
  (await s.releases()).filter((row) => row['component'] === component && row['result'] === 'published').length

/** Trains the weights towards the wanted answer; over when they are published. */
async function reward(group: number): Promise<void> {
  const before = await publishedBy('weights')
  await s.teach(group, GROUP, wanted)
  await until(async () => (await publishedBy('weights')) > before)
}

/** Requests a harness change and returns its row. */
async function suggest(feedback: string): Promise<JsonObject> {
  const { receipt } = await s.say()
  const report = textAt((await s.report({ references: [receipt], score: 0, feedback })).json, 'agent_record_id')
  const { step } = await s.consumer(report)
  return (await s.releases()).find((row) => row['step'] === step) ?? {}
}

/** What is likeliest said by the served release, or to a candidate of one component. */
async function greedy(component?: string): Promise<string> {
  if (component === undefined) return (await s.say({ temperature: 0 })).text
  const body = { model: 'tiny', messages: [{ role: 'user', content: PROMPT }], max_tokens: 12, temperature: 0 }
  const { text } = await world.post(`/svc/scenarios/${s.name}/components/${component}/evaluation/v1/chat/completions`, body)
  return String(JSON.parse(text).choices[0].message.content).trim()
}

describe('a release of weights and a harness', () => {
  it('consists of both from the start [release.components]', async () => {
    expect(await greedy()).not.toBe(wanted)
    const created = await s.head()
    expect(Object.keys(partsOf(created)).sort()).toEqual(['harness', 'weights'])
    expect(await s.status()).toMatchObject({ adapter_runtime_load_id: null, components: { weights: {}, harness: {} } })
  })

  it('is not improved by a harness that asks weights which do not know yet', async () => {
    expect(await suggest(PROMPT)).toMatchObject({ component: 'harness', result: 'rejected', metrics: { wins: 0, ties: 1 } })
  })

  it('whose weights learn keeps its harness, and every one of them is a checkpoint [release.components]', async () => {
    const created = await s.head()
    for (let group = 1; group === 1 || (await greedy()) !== wanted; group += 1) await reward(group)
    const head = await s.head()
    expect(head).toMatchObject({ component: 'weights', restorable: true })
    expect(partsOf(head)['harness']).toBe(partsOf(created)['harness'])
    expect(partsOf(head)['weights']).not.toBe(partsOf(created)['weights'])
    expect((await s.releases()).map(idOf)).toEqual(expect.not.arrayContaining([expect.not.stringMatching(COMMIT)]))
    const { status, headers } = await world.get('/svc/harness', named(s.name))
    expect([status, headers['x-svc-release-id']]).toEqual([200, idOf(created)])
  })

  it('whose harness learns is measured on the weights that are served, and keeps them [release.components] [evaluation.component-hooks]', async () => {
    const [before, said] = [await s.head(), await s.voice()]
    expect(await suggest(PROMPT)).toMatchObject({ component: 'harness', result: 'published', metrics: { wins: 1, losses: 0 } })
    const head = await s.head()
    expect(partsOf(head)['weights']).toBe(partsOf(before)['weights'])
    expect(partsOf(head)['harness']).not.toBe(partsOf(before)['harness'])
    expect(await filesOf()).toMatchObject({ 'RULES.md': expect.stringContaining(PROMPT) })
    expect(await s.voice()).toEqual(said)
  })

  it('is asked by a candidate of the harness with its weights, and by one of the weights without [evaluation.component-hooks]', async () => {
    expect(await greedy('harness')).toBe(wanted)
    expect(await greedy('weights')).not.toBe(wanted)
  })
})

describe('what clients see', () => {
  it('is the harness alone: its catalog lists what changed it, and answers name the release that can be pulled [harness.rule-3]', async () => {
    const listed = (await s.listed()).filter((row) => row['result'] === 'published')
    expect(listed.map(({ operation, component }) => [operation, component])).toEqual([
      ['create', undefined],
      ['train', 'harness'],
    ])
    await reward(100)
    const { headers } = await world.post(
      '/v1/chat/completions',
      { model: 'tiny', messages: [{ role: 'user', content: PROMPT }], max_tokens: 1 },
      { ...named(s.name), 'x-svc-tag-release': idOf(listed[0] ?? {}) },
    )
    expect(headers['x-svc-release-id']).toBe(idOf(listed[1] ?? {}))
    // Weights act inside the service: whatever a client has installed, they are what answered.
    const kept = await world.get(`/svc/scenarios/${s.name}/records/${String(headers['x-svc-agent-record-id'])}`)
    expect(kept.json['artifact_ref']).toBe(idOf(await s.head()))
  })

  it('is each trainer in the status [status.components]', async () => {
    const status = await s.status()
    const parts = memberOf(status, 'components')
    expect(Object.keys(parts).sort()).toEqual(['harness', 'weights'])
    expect(memberOf(parts, 'weights')).toMatchObject({ last_committed_step: { metrics: { training_method: 'grouped' } } })
    expect(memberOf(parts, 'harness')).toMatchObject({ last_committed_step: { metrics: { steps: expect.any(Number) } } })
    expect(status['adapter_runtime_load_id']).toBe(status['current_runtime_load_id'])
  })
})

describe('a rollback', () => {
  it('brings both back: the harness as it was, and the weights loaded again, token by token [movement.rollback] [release.components]', async () => {
    const [target, files, said] = [await s.head(), await filesOf(), await s.voice()]
    await reward(200)
    expect(await s.voice()).not.toEqual(said)
    expect((await s.move('rollback', idOf(target))).status).toBe(200)
    expect(partsOf(await s.head())).toEqual(partsOf(target))
    expect([await filesOf(), await s.voice()]).toEqual([files, said])
  })

  it('to the start asks the base alone, with the harness there was', async () => {
    const created = (await s.releases()).at(-1) ?? {}
    expect((await s.move('rollback', idOf(created))).json['content_id']).toBe(created['content_id'])
    expect(await s.status()).toMatchObject({ adapter_runtime_load_id: null })
    expect(await filesOf()).not.toHaveProperty('RULES.md')
    expect(await greedy()).toBe(await greedy('weights'))
  })
})
