/** How traffic becomes batches: samples, how often they are consumed, and unusable records, which block nothing. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { until } from '../support/wait.ts'
import { ownWorld, sharedWorld } from '../support/world.ts'
import { expectRefusal, importInference, inference, LEDGER_RECIPE, named, reportEnvelope, textAt } from './support/helpers.ts'
import { fresh, memberOf, trainee, type Trainee } from './support/trainee.ts'

const here = sharedWorld({
  backend: 'sqlite',
  settings: {
    recipe: 'one',
    'recipes.one.use': LEDGER_RECIPE,
    'recipes.two.use': LEDGER_RECIPE,
    'recipes.two.pipeline.task2batch.config.batch_size': 2,
    'recipes.records.use': LEDGER_RECIPE,
    'recipes.records.data.batch_policy': 'records',
    'recipes.records.pipeline.task2batch.config.batch_size': 2,
  },
})

const sawIn = (row: JsonObject): JsonObject => memberOf(row['metrics'], 'saw')
const reportId = async (s: Trainee, body: JsonObject): Promise<string> => textAt((await s.report(body)).json, 'agent_record_id')
const asideOf = async (s: Trainee): Promise<unknown> => (await s.processor())['set_aside']

describe('a report', () => {
  it('is consumed once with what it quotes, and not again after a restart or a resend [report.consumed-once]', async () => {
    const s = await fresh(here)
    const receipt = await here.exchange(s.name)
    const body = { agent_record_id: 'judged', references: [receipt], score: 1 }
    await s.report(body)
    expect(await s.row(1)).toMatchObject({ consumed_ids: [receipt, 'judged'].sort(), metrics: { saw: { samples: 1, scores: [1] } } })
    await here.restart()
    expect((await s.report(body)).status).toBe(200)
    expect((await here.post('/svc/records', reportEnvelope('judged', { references: [receipt], score: 1 }), named(s.name))).status).toBe(200)
    const [other, later] = await s.reported()
    expect(await s.row(2)).toMatchObject({ consumed_ids: [other, later].sort() })
    expect(await s.rows()).toHaveLength(2)
  })

  it('holds its exchange until it comes, however late [report.rule-4]', async () => {
    const s = await fresh(here)
    const early = await here.exchange(s.name)
    await s.consumer((await s.reported())[1])
    await here.restart()
    const report = await reportId(s, { references: [early] })
    expect(await s.consumer(report)).toMatchObject({ step: 2, consumed_ids: [early, report].sort() })
  })

  it('with several references is one trajectory, in the order quoted [report.trajectory]', async () => {
    const s = await fresh(here)
    for (const id of ['a', 'b', 'c']) await importInference(here, s.name, id)
    const report = await reportId(s, { references: ['c', 'a'] })
    const row = await s.consumer(report)
    expect(row['consumed_ids']).toEqual(['a', 'c', report].sort())
    expect(sawIn(row)).toMatchObject({ samples: 1, exchanges: [2], responses: [['c', 'a']] })
  })

  it.each<[string, JsonObject, unknown]>([
    ['an object', { task: { name: 'maze', path: 'tasks/maze', digest: 'd' } }, { name: 'maze', path: 'tasks/maze', digest: 'd' }],
    ['a name', { task: 'maze' }, { name: 'maze' }],
    ['the name its bench gave', { bench: { task_name: 'maze' } }, { name: 'maze' }],
    ['nothing', {}, null],
  ])('carries its task: %s [report.task]', async (_case, metadata, task) => {
    const s = await fresh(here)
    expect(sawIn(await s.consumer((await s.reported({ metadata }))[1]))['tasks']).toEqual([task])
  })
})

describe('a report that no step can use', () => {
  it('because it quotes nothing is set aside, counted, and blocks nothing [decisions.report-never-blocks]', async () => {
    const s = await fresh(here)
    const bare = await reportId(s, { score: 1 })
    const [receipt, report] = await s.reported()
    expect(await s.row(1)).toMatchObject({ consumed_ids: [receipt, report, bare].sort(), metrics: { saw: { samples: 1 } } })
    expect(await asideOf(s)).toEqual({ 'quotes no receipt': 1 })
    await here.restart()
    await s.reported()
    await s.row(2)
    expect(await asideOf(s)).toEqual({ 'quotes no receipt': 1 })
  })

  it('because its exchange was used already is set aside [decisions.report-never-blocks]', async () => {
    const s = await fresh(here)
    const [receipt, first] = await s.reported()
    await s.consumer(first)
    const late = await reportId(s, { references: [receipt] })
    const [, good] = await s.reported()
    const row = await s.consumer(good)
    expect(sawIn(row)['samples']).toBe(1)
    expect(row['consumed_ids']).toContain(late)
    expect(await asideOf(s)).toEqual({ 'an exchange it quotes was used by another report': 1 })
  })

  it('because another that waited with it used its exchange is set aside too [decisions.report-never-blocks]', async () => {
    const s = await fresh(here, 'manual')
    const [receipt, first] = await s.reported()
    const twin = await reportId(s, { references: [receipt] })
    await s.useMode('auto')
    expect(await s.consumer(first)).toMatchObject({ step: 1, consumed_ids: [receipt, first].sort() })
    const [, good] = await s.reported()
    expect((await s.row(2))['consumed_ids']).toEqual(expect.arrayContaining([good, twin]))
    expect((await s.row(2))['metrics']).toMatchObject({ saw: { samples: 1 } })
  })

  it('because a body was evicted is set aside, and rows say that data was lost [decisions.report-never-blocks]', async () => {
    const settings = { recipe: LEDGER_RECIPE, 'data.training_mode': 'manual', 'storage.record_capacity_bytes': 4000 }
    const small = await ownWorld({ backend: 'sqlite', settings })
    const s = trainee(small, 'small')
    await importInference(small, s.name, 'gone', { text: 'x'.repeat(1000) })
    const report = await reportId(s, { references: ['gone'] })
    for (const id of ['a', 'b', 'c', 'd', 'e']) await importInference(small, s.name, id, { text: 'x'.repeat(1000) })
    await until(async () => (await small.get(`/svc/scenarios/${s.name}/records/gone`)).status === 404)
    await reportId(s, { references: ['e'] })
    await s.useMode('auto')
    const row = await s.row(1)
    expect(row['consumed_ids']).toEqual(expect.arrayContaining(['e', report]))
    const evicted = { 'records/data_incomplete': true, 'records/evicted_count': expect.any(Number) }
    expect(row['metrics']).toMatchObject({ saw: { samples: 1 }, ...evicted })
    expect(Object.keys(Object(await asideOf(s)))).toEqual([expect.stringContaining('evicted')])
    expect(await s.processor()).toMatchObject({ record_data_incomplete: true })
  })
})

describe('a batch', () => {
  it('of two waits for its second unit, over a restart too, and takes both in order [limits.batch-units]', async () => {
    const s = await fresh(here, undefined, { recipe: 'two' })
    await s.reported({ score: 1 })
    await until(async () => (await s.processor())['buffered_units'] === 1)
    expect(await s.status()).toMatchObject({ batch_ready: false, processor: { batch_size: 2 } })
    expect(await s.rows()).toEqual([])
    await here.restart()
    await s.reported({ score: 2 })
    expect(await s.row(1)).toMatchObject({ metrics: { saw: { samples: 2, scores: [1, 2] } } })
    await s.reported({ score: 3 })
    await here.restart()
    await s.reported({ score: 4 })
    expect(await s.row(2)).toMatchObject({ metrics: { saw: { samples: 2, scores: [3, 4] } } })
  })

  it('of records holds plain exchanges without a score, and leaves reports alone [training.records]', async () => {
    const s = await fresh(here, undefined, { recipe: 'records' })
    const [first] = await s.reported({ score: 1 })
    const second = await here.exchange(s.name)
    expect(await s.row(1)).toMatchObject({ consumed_ids: [first, second].sort(), metrics: { saw: { samples: 2, scores: [null, null] } } })
    const { json } = await here.get(`/svc/scenarios/${s.name}/contract`)
    expect(json).toMatchObject({ processor: 'ledger', required_request_types: ['inference'], status: { batch_size: 2 } })
  })
})

/** An exchange and a report about it for each. */
const units = (...ids: readonly string[]) => [
  ...ids.map((id) => inference(id)),
  ...ids.map((id) => reportEnvelope(`on-${id}`, { references: [id] })),
]

describe('an import', () => {
  it('wakes the worker like live traffic [import.wakes-training] [import.rule-6]', async () => {
    const s = await fresh(here)
    await importInference(here, s.name, 'a')
    await here.post('/svc/records', reportEnvelope('judged', { references: ['a'], score: 0.5 }), named(s.name))
    expect(await s.row(1)).toMatchObject({ consumed_ids: ['a', 'judged'], metrics: { saw: { scores: [0.5], responses: [['a']] } } })
  })

  it('of a batch is there as a whole when the worker wakes; a refused batch wakes no worker [batch.rule-4]', async () => {
    const s = await fresh(here, undefined, { recipe: 'two' })
    const send = (records: readonly JsonObject[]) => here.post('/svc/records/batch', { records }, named(s.name))
    expectRefusal(await send([...units('x', 'y'), reportEnvelope('bad', { references: ['nothing'] })]), 400, 'unknown_reference')
    expect((await send(units('a', 'b', 'c', 'd'))).status).toBe(200)
    expect(await s.row(1)).toMatchObject({ consumed_ids: ['a', 'b', 'on-a', 'on-b'] })
    expect(await s.row(2)).toMatchObject({ consumed_ids: ['c', 'd', 'on-c', 'on-d'] })
    expect((await send(units('a', 'b', 'c', 'd'))).status).toBe(200)
    await send(units('e', 'f'))
    expect(await s.row(3)).toMatchObject({ consumed_ids: ['e', 'f', 'on-e', 'on-f'] })
  })
})
