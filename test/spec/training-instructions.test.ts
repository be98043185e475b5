/** An instruction from its acceptance to the one row that consumes it, for every outcome. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { until } from '../support/wait.ts'
import { ownWorld, sharedWorld, type World } from '../support/world.ts'
import { expectRefusal, importInference, LEDGER_RECIPE, named, textAt } from './support/helpers.ts'
import { fresh, gateIn, memberOf, type Trainee } from './support/trainee.ts'

const CAPACITY = 6000
const manual = { recipe: LEDGER_RECIPE, 'data.training_mode': 'manual' }

const here = sharedWorld({ backend: 'sqlite', settings: manual })

const git = (...args: readonly string[]): string =>
  execFileSync('git', [`--git-dir=${join(here.directory, 'artifacts.git')}`, ...args], { encoding: 'utf8' })
const requestIn = (row: JsonObject): JsonObject => memberOf(row['metrics'], 'training_request')

/** The outcomes of a step: the scripted word, the result, and the row. */
const ENDINGS: readonly (readonly [word: string, result: string, row: JsonObject])[] = [
  ['add', 'published', { pending: false, current: true, restorable: true }],
  ['hold', 'pending', { pending: true, current: false, restorable: false }],
  ['reject', 'rejected', { pending: false, current: false }],
  ['skip', 'skipped', { skipped: 'told to skip' }],
  ['same', 'skipped', { skipped: 'nothing changed' }],
  ['stuck', 'failed', { skipped: 'no candidate', proposal_notes: { failure: 'the model call failed' } }],
  ['throw', 'failed', { skipped: 'instruction failed', error: 'told to throw' }],
  ['escape', 'failed', { skipped: 'instruction failed', error: expect.stringContaining('the result cannot be kept') }],
]

describe('a step on an instruction', () => {
  it.each(ENDINGS)('of the word %s is %s: one row, never a second [instruction.lifecycle] [release.lifted]', async (word, result, said) => {
    const s = await fresh(here)
    const created = await s.release()
    const asked = await s.ask(word)
    expect(await s.row(1)).toMatchObject({ operation: 'train', consumed_ids: [asked], pending: result === 'pending' })
    const row = await s.release()
    expect(row).toMatchObject({ step: 1, operation: 'train', result, training_request: { id: asked, text: word }, ...said })
    const isRelease = result === 'published' || result === 'pending'
    expect(row['release_id'] === created['release_id']).toBe(!isRelease)
    expect((await s.row(1))['artifact_ref']).toBe(isRelease ? row['release_id'] : null)
    expect((await s.head())['release_id']).toBe(result === 'published' ? row['release_id'] : created['release_id'])
    const next = await s.ask('add')
    expect(await s.row(2)).toMatchObject({ consumed_ids: [next] })
    expect(await s.progress(asked)).toMatchObject({ settled: true, step: 1, state: result })
  })

  it('that cannot be kept says why without a path of this machine', async () => {
    const s = await fresh(here)
    const { error } = memberOf(await s.consumer(await s.ask('escape')), 'metrics')
    expect(error).not.toContain(here.directory)
    expect(git('log', '--all', '--name-only', '--format=')).not.toContain('outside')
  })

  it('that failed leaves what rode beside it for the next batch [instruction.lifecycle]', async () => {
    const s = await fresh(here)
    const { open } = await s.paused()
    const [receipt, report] = await s.reported()
    const asked = await s.ask('throw')
    await s.useMode('hybrid')
    await open()
    expect(await s.row(2)).toMatchObject({ consumed_ids: [asked], metrics: { skipped: 'instruction failed' } })
    expect(await s.row(3)).toMatchObject({ metrics: { saw: { samples: 1 } }, consumed_ids: [receipt, report].sort() })
  })

  it('that was under way at a restart left no row, and runs again [instruction.lifecycle]', async () => {
    const s = await fresh(here)
    const { id: asked, open } = await s.paused()
    await here.restart()
    expect(await s.rows()).toEqual([])
    await open()
    expect(await s.row(1)).toMatchObject({ consumed_ids: [asked], metrics: { saw: { step: 1 } } })
  })

  it('is not altered by later requests [instruction.lifecycle]', async () => {
    const s = await fresh(here)
    const { id: first, open } = await s.paused()
    const second = await s.ask('add')
    await open()
    const [one, two] = [textAt(await s.row(1), 'artifact_ref'), textAt(await s.row(2), 'artifact_ref')]
    expect(git('show', `${one}:ledger.md`)).toBe(`request ${first}\n`)
    expect(git('show', `${two}:ledger.md`)).toBe(`request ${first}\nrequest ${second}\n`)
  })

  it('works on the head of now, not on the release the request names [train.rule-7]', async () => {
    const s = await fresh(here)
    const created = textAt(await s.release(), 'release_id')
    const first = await s.consumer(await s.ask('add', { release_id: created }))
    const second = await s.consumer(await s.ask('add', { release_id: created }))
    expect(first).toMatchObject({ metrics: { saw: { base: created, state: {} } } })
    expect(second).toMatchObject({ metrics: { saw: { base: first['artifact_ref'], state: { steps: 1 } } } })
    expect(requestIn(second)['release_id']).toBe(created)
  })

  it('needs no receipt and no score, and may name a release that is unknown [train.rule-7]', async () => {
    const s = await fresh(here)
    expect(await s.consumer(await s.ask('add', { release_id: 'unheard of' }))).toMatchObject({ metrics: { saw: { samples: 0 } } })
  })
})

describe('the training request of a row', () => {
  it('is what was asked, and nothing else [train.record]', async () => {
    const s = await fresh(here)
    const client = { platform: 'linux', commands: { git: true } }
    const id = await s.ask('skip', { session: 's-9', release_id: 'r-9', client })
    expect(requestIn(await s.consumer(id))).toEqual({ id, text: 'skip', session: 's-9', release_id: 'r-9', requires: [], client })
    const plain = await s.ask('skip')
    expect(Object.keys(requestIn(await s.consumer(plain))).sort()).toEqual(['id', 'release_id', 'requires', 'session', 'text'])
  })

  it("holds the person's items first, then the method's that are new [train.record-requires]", async () => {
    const s = await fresh(here)
    const requires = [{ name: 'PERSONS', kind: 'env', prompt: 'set it' }]
    const request = requestIn(await s.consumer(await s.ask('add', { requires })))
    expect(request['requires']).toEqual([...requires, { name: 'OWN', kind: 'env' }])
    expect(request).not.toHaveProperty('refused_requires')
  })

  it("drops a bad item of the method's alone, and lists it without its secret [train.record-requires]", async () => {
    const s = await fresh(here)
    const requires = [{ name: 'PERSONS', kind: 'env' }]
    const row = await s.consumer(await s.ask('odd', { requires }))
    const request = requestIn(row)
    expect(request['requires']).toEqual([...requires, { name: 'GOOD', kind: 'env' }])
    expect(request['refused_requires']).toMatchObject([
      { item: { name: 'bad name' }, reason: expect.stringContaining('name') },
      { item: 'no item', reason: expect.any(String) },
      { reason: 'credential_in_text' },
    ])
    expect(JSON.stringify(row)).not.toContain('sk-')
  })

  it('holds at most eight items, and names those that found no room [train.record-requires] [limits.requires]', async () => {
    const s = await fresh(here)
    const request = requestIn(await s.consumer(await s.ask('many', { requires: [{ name: 'PERSONS', kind: 'env' }] })))
    const names = ['PERSONS', 'M0', 'M1', 'M2', 'M3', 'M4', 'M5', 'M6']
    expect(request['requires']).toEqual(names.map((name) => ({ name, kind: 'env' })))
    expect(request['refused_requires']).toMatchObject([{ item: { name: 'M7' } }, { item: { name: 'M8' } }])
  })

  it('has the notes of the method beside it as they were given, and none when they are empty [train.proposal-notes]', async () => {
    const s = await fresh(here)
    const [full, empty] = [await s.consumer(await s.ask('notes')), await s.consumer(await s.ask('blank'))]
    expect(full['metrics']).toHaveProperty('proposal_notes', { design: 'a short plan', own: [1, { deep: true }] })
    expect(empty['metrics']).not.toHaveProperty('proposal_notes')
  })
})

const send = (s: Trainee, text: string, at = here) =>
  at.post('/svc/train', { text, session: 's', release_id: 'r', agent_record_id: 'mine' }, named(s.name))

describe('an instruction sent again', () => {
  it('as it was runs no second step, before its row and after; with other words it is 409 [train.rule-6]', async () => {
    const s = await fresh(here)
    const gate = gateIn(here)
    const answers = [await send(s, `wait ${gate.path}`), await send(s, `wait ${gate.path}`)]
    await gate.open()
    await s.row(1)
    answers.push(await send(s, `wait ${gate.path}`))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, json: { agent_record_id: 'mine' } })
    expectRefusal(await send(s, 'other'), 409, 'record_conflict')
    const next = await s.ask('add')
    expect(await s.row(2)).toMatchObject({ consumed_ids: [next] })
  })

  it('runs no second step after its body was evicted, nor after a restart [train.rule-6]', async () => {
    const small = await smallWorld()
    const s = await fresh(small)
    await send(s, 'add', small)
    await s.row(1)
    await evict(small, s.name, 'mine')
    expect((await send(s, 'add', small)).status).toBe(200)
    expectRefusal(await send(s, 'other', small), 409, 'record_conflict')
    await small.restart()
    expect((await send(s, 'add', small)).status).toBe(200)
    const next = await s.ask('skip')
    expect(await s.row(2)).toMatchObject({ consumed_ids: [next], metrics: { 'records/data_incomplete': true } })
  })

  it('is a failed row when its body was evicted before any step took it [instruction.lifecycle]', async () => {
    const small = await smallWorld()
    const s = await fresh(small)
    const { open } = await s.paused()
    await send(s, 'add', small)
    await evict(small, s.name, 'mine')
    await open()
    expect(await s.consumer('mine')).toMatchObject({
      step: 2,
      metrics: { skipped: 'instruction failed', error: 'the body of the instruction was evicted', training_request: { id: 'mine' } },
    })
  })
})

const smallWorld = (): Promise<World> => ownWorld({ backend: 'sqlite', settings: { ...manual, 'storage.record_capacity_bytes': CAPACITY } })

/** Fills the store until the body of that record is gone. */
async function evict(small: World, scenario: string, id: string): Promise<void> {
  for (let count = 0; count < 8; count += 1) await importInference(small, scenario, `filler-${count}`, { text: 'x'.repeat(1000) })
  await until(async () => (await small.get(`/svc/scenarios/${scenario}/records/${id}`)).status === 404)
}
