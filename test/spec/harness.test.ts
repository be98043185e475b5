/** The manifest of the tree that clients pull: which release it is, what it holds, and what it asks of a machine. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { ownWorld, sharedWorld, type Answer } from '../support/world.ts'
import { expectRefusal, LEDGER_RECIPE, named, PAIR_RECIPE, rowsOf, textAt } from './support/helpers.ts'
import { fresh, memberOf, type Trainee } from './support/trainee.ts'

const ORDERS_RECIPE = join(import.meta.dirname, '..', '..', 'examples', 'recipe', 'standing-orders.ts')

const here = sharedWorld({ settings: { recipe: LEDGER_RECIPE, 'data.training_mode': 'hybrid' } })

const manifest = ({ name }: Trainee, query = '', where = here): Promise<Answer> => where.get(`/svc/harness${query}`, named(name))

/** Asks for a change and waits for the row that settles it. */
async function changed(s: Trainee, text: string, more: JsonObject = {}): Promise<JsonObject> {
  await s.asked(text, more)
  return s.release()
}

/** The same, where a person has to look at it first. */
async function reviewed(s: Trainee, text: string, more: JsonObject): Promise<void> {
  expect((await s.move('promote', textAt(await changed(s, text, more), 'release_id'))).status).toBe(200)
}

describe('the manifest', () => {
  it('has the identity of the served release, its files, its evaluation and what it requires [harness.manifest]', async () => {
    const s = await fresh(here)
    await changed(s, 'won')
    const { release_id, content_id, parent_release_id } = await s.head()
    const { json, headers } = await manifest(s)
    expect(json).toEqual({
      release_id,
      content_id,
      parent_release_id,
      files: { 'ledger.md': expect.stringMatching(/^request \w+\n$/) },
      evaluation: { wins: 3, losses: 1, current_score: 1, candidate_score: 3 },
      requires: [{ name: 'OWN', kind: 'env' }],
      signed: expect.any(Object),
    })
    expect(headers['cache-control']).toBe('no-store')
  })

  it('names its release in the header, as inference does, and both follow the head [harness.manifest-header] [harness.head-header]', async () => {
    const s = await fresh(here)
    const heads: unknown[] = []
    for (const text of ['add', 'add']) {
      await changed(s, text)
      const pulled = await manifest(s)
      const asked = await here.post('/v1/chat/completions', { model: 'm', messages: [] }, named(s.name))
      expect(pulled.headers['x-svc-release-id']).toBe(pulled.json['release_id'])
      expect(asked.headers['x-svc-release-id']).toBe(pulled.json['release_id'])
      heads.push(pulled.json['release_id'])
    }
    expect(new Set(heads).size).toBe(2)
  })

  it('of a scenario before its first step is its seed', async () => {
    const s = await fresh(here)
    const { json } = await manifest(s)
    expect(json).toMatchObject({ parent_release_id: null, files: { 'ledger.md': '' }, evaluation: {}, requires: [] })
  })

  it('lists components where there are several, and names the release that changed its tree [harness.manifest] [harness.rule-3]', async () => {
    const pairs = await ownWorld({ settings: { recipe: PAIR_RECIPE } })
    const s = await fresh(pairs)
    await s.reported({ feedback: { alpha: 'add', beta: 'skip' } })
    await s.row(2)
    const tree = (await s.listed()).findLast(({ operation, result }) => operation === 'train' && result === 'published')
    await s.reported({ feedback: { alpha: 'skip', beta: 'add' } })
    await s.row(4)
    const { json, headers } = await manifest(s, '', pairs)
    const { components } = await s.head()
    expect(json['components']).toEqual(components)
    expect(json['release_id']).toBe(textAt(tree ?? {}, 'release_id'))
    const asked = await pairs.post('/v1/chat/completions', { model: 'm', messages: [] }, named(s.name))
    expect([headers['x-svc-release-id'], asked.headers['x-svc-release-id']]).toEqual([json['release_id'], json['release_id']])
  })
})

describe('what a release requires', () => {
  it('is the union over its chain, each item as it was asked for last [harness.requires-union]', async () => {
    const s = await fresh(here)
    await reviewed(s, 'add', { requires: [{ name: 'GIT', kind: 'service', check: 'git --version' }] })
    await changed(s, 'add', { requires: [{ name: 'KEY', kind: 'env' }] })
    await reviewed(s, 'add', { requires: [{ name: 'GIT', kind: 'service', check: 'git status', prompt: 'Install git.' }] })
    expect((await manifest(s)).json['requires']).toEqual([
      { name: 'GIT', kind: 'service', check: 'git status', prompt: 'Install git.' },
      { name: 'OWN', kind: 'env' },
      { name: 'KEY', kind: 'env' },
    ])
  })

  it('follows a rollback to the release it copied, and leaves out what came in between [harness.requires-union]', async () => {
    const s = await fresh(here)
    const first = await s.head()
    await changed(s, 'add', { requires: [{ name: 'KEY', kind: 'env' }] })
    await s.move('rollback', textAt(first, 'release_id'))
    expect((await manifest(s)).json['requires']).toEqual([])
  })

  it('is held for review where a check is a command, and served once it is promoted [harness.requires-review]', async () => {
    const s = await fresh(here)
    const before = await s.head()
    const asked = await s.ask('add', { requires: [{ name: 'GIT', kind: 'service', check: 'git --version' }] })
    expect(await s.consumer(asked)).toMatchObject({
      pending: true,
      metrics: { held_because: expect.stringContaining('it requires GIT, whose check is a command') },
    })
    expect(await s.head()).toEqual(before)
    expect((await manifest(s)).json['requires']).toEqual([])
    await s.move('promote', textAt((await s.listed())[1] ?? {}, 'release_id'))
    expect((await manifest(s)).json['requires']).toContainEqual({ name: 'GIT', kind: 'service', check: 'git --version' })
    await changed(s, 'add', {
      requires: [
        { name: 'KEY', kind: 'env', check: 'OTHER' },
        { name: 'radio', kind: 'service' },
      ],
    })
    expect(await s.release()).toMatchObject({ current: true })
  })

  it('leaves out what rejected steps asked for', async () => {
    const s = await fresh(here)
    await changed(s, 'reject', { requires: [{ name: 'KEY', kind: 'env' }] })
    expect((await manifest(s)).json['requires']).toEqual([])
  })
})

describe('a release by its id', () => {
  it('is pulled, also when it is not served any more or waits for review [harness.rule-1]', async () => {
    const s = await fresh(here)
    const first = textAt(await s.head(), 'release_id')
    await changed(s, 'add')
    const served = textAt(await s.head(), 'release_id')
    const held = textAt(await changed(s, 'hold'), 'release_id')
    expect((await manifest(s, `?release_id=${first}`)).json).toMatchObject({ release_id: first, files: { 'ledger.md': '' } })
    const pending = await manifest(s, `?release_id=${held}`)
    expect(pending.json).toMatchObject({ release_id: held, files: { 'ledger.md': expect.stringMatching(/^(request \w+\n){2}$/) } })
    expect(pending.headers['x-svc-release-id']).toBe(held)
    expect((await manifest(s)).json['release_id']).toBe(served)
  })

  it('that is unknown is 404 [harness.rule-1]', async () => {
    const s = await fresh(here)
    for (const id of ['none', '%2E%2E', '']) expectRefusal(await manifest(s, `?release_id=${id}`), 404, 'unknown_release')
    expectRefusal(await here.get('/svc/harness', named('unheard')), 404, 'unknown_scenario')
  })

  it('of another scenario is 404 [harness.rule-1]', async () => {
    const [s, other] = [await fresh(here), await fresh(here)]
    const foreign = textAt(await changed(other, 'add'), 'release_id')
    expectRefusal(await manifest(s, `?release_id=${foreign}`), 404, 'unknown_release')
  })
})

describe('while a step is under way', () => {
  it('manifest and catalog answer, and serve what was there before [harness.rule-2]', async () => {
    const s = await fresh(here)
    await changed(s, 'won')
    const { open } = await s.paused(' add')
    expect((await manifest(s)).json).toMatchObject({ release_id: (await s.head())['release_id'], evaluation: { wins: 3 } })
    expect(await s.listed()).toHaveLength(2)
    await open()
    await s.row(2)
    expect((await manifest(s)).json['evaluation']).toEqual({})
  })

  it('moves and reads race, and every manifest is of one release [harness.rule-2]', async () => {
    const s = await fresh(here)
    const ids = [textAt(await s.head(), 'release_id'), textAt(await changed(s, 'won'), 'release_id')]
    const moving = Promise.all(ids.map((id) => s.move('rollback', id)))
    const seen = await Promise.all(Array.from({ length: 20 }, () => manifest(s)))
    await moving
    for (const { json } of seen) {
      const isFirst = memberOf(json, 'files')['ledger.md'] === ''
      expect(json['evaluation']).toEqual(isFirst ? {} : expect.objectContaining({ wins: 3 }))
    }
  })
})

describe('a harness', () => {
  const seed = [
    { id: 'style', name: 'rules', config: { text: 'Answer in one sentence.' } },
    { id: 'greet', name: 'skill', config: { name: 'greet', text: 'Say hello.' } },
  ]
  const evolution = { 'evolution.adapter': 'native', 'evolution.seed': JSON.stringify(seed) }
  const native = sharedWorld({ settings: { recipe: ORDERS_RECIPE, 'data.training_mode': 'manual', ...evolution } })

  it('serves its seed, with the entries in the tree file of an adapter that has one [harness.tree-file]', async () => {
    const s = await fresh(native)
    const files = memberOf((await manifest(s, '', native)).json, 'files')
    expect(JSON.parse(textAt(files, 'native/tree.json'))).toEqual(seed.map((entry) => ({ ...entry, author: 'person' })))
    expect(Object.values(files)).toContainEqual(expect.stringContaining('Answer in one sentence.'))
    expect(Object.keys(files).filter((path) => path.startsWith('.'))).toEqual([])
  })

  it('changes by an instruction, through admission [decisions.screen-tree]', async () => {
    const s = await fresh(native)
    await s.consumer(await s.ask('Always write tests first.'))
    const files = memberOf((await manifest(s, '', native)).json, 'files')
    expect(JSON.parse(textAt(files, 'native/tree.json'))).toHaveLength(3)
  })
})

it('a scenario shows its adapter in the list, also while it is not loaded [scenario.list-adapter]', async () => {
  const small = await ownWorld({ settings: { recipe: 'harness', 'svc.max_loaded_scenarios': 1 } })
  const s = await fresh(small)
  const row = async (): Promise<JsonObject | undefined> =>
    rowsOf(await small.get('/svc/scenarios'), 'scenarios').find(({ scenario }) => scenario === s.name)
  expect(await row()).toMatchObject({ loaded: true, adapter: 'native' })
  await fresh(small)
  expect(await row()).toMatchObject({ loaded: false, adapter: 'native' })
})

it('every adapter shows what it is and how it is installed [harness.adapters-fields]', async () => {
  const adapters = rowsOf(await here.get('/svc/harness/adapters'), 'adapters')
  const names = adapters.map((adapter) => textAt(adapter, 'name'))
  expect(new Set(names)).toEqual(new Set(['claude', 'codex', 'dsh', 'hermes', 'native', 'opencode', 'pi', 'terminus']))
  for (const adapter of adapters) {
    expect(adapter).toMatchObject({
      // Nothing that is ours runs Terminus.
      binary: adapter['name'] === 'terminus' ? null : expect.any(String),
      trajectory_format: expect.any(String),
      model_bindings: expect.arrayContaining([expect.stringMatching(/^(openai|responses|anthropic)$/)]),
      kinds: expect.arrayContaining(['config', 'rules', 'skill']),
    })
    const isInstalled = adapter['name'] !== 'native' && adapter['name'] !== 'terminus'
    const install = { package: expect.any(String), version: expect.any(String), binary_path: expect.any(String) }
    expect(adapter).toMatchObject({ install: isInstalled ? install : null })
  }
})
