/** A scenario with several trainers: one release of several components, each trained and shown separately. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { STEP_OVERTAKEN_MAX, type JsonObject } from '../../src/contract/index.ts'
import { until } from '../support/wait.ts'
import { sharedWorld } from '../support/world.ts'
import { expectRefusal, LEDGER_RECIPE, named, PAIR_RECIPE, scenarioNames, textAt } from './support/helpers.ts'
import { fresh, gateAt, gateIn, memberOf, trainee, type Trainee } from './support/trainee.ts'

const here = sharedWorld({
  backend: 'sqlite',
  settings: {
    recipe: 'pair',
    'recipes.pair.use': PAIR_RECIPE,
    'recipes.reevaluate.use': `${PAIR_RECIPE}#reevaluate`,
    'recipes.refuse.use': `${PAIR_RECIPE}#refuse`,
    'recipes.ledger.use': LEDGER_RECIPE,
  },
})

type Part = 'alpha' | 'beta'

/** The rows of one component, oldest first, once there are so many. */
async function rowsOf(s: Trainee, component: Part, count: number): Promise<readonly JsonObject[]> {
  let rows: readonly JsonObject[] = []
  await until(async () => {
    rows = (await s.releases()).filter((row) => row['component'] === component).toReversed()
    return rows.length >= count
  })
  return rows
}
const newest = async (s: Trainee, component: Part, count: number): Promise<JsonObject> => (await rowsOf(s, component, count)).at(-1) ?? {}
const partsOf = (row: JsonObject): JsonObject => memberOf(row, 'components')
const idOf = (row: JsonObject): string => textAt(row, 'release_id')

/** Sends one report with instructions for alpha and beta; resolves when both have settled it. */
async function step(s: Trainee, feedback: Readonly<Record<Part, string>>, count: number) {
  const ids = await s.reported({ feedback })
  return { ids, alpha: await newest(s, 'alpha', count), beta: await newest(s, 'beta', count) }
}

describe('a composed release', () => {
  it('lists its components; a step changes its own and leaves the others [release.components]', async () => {
    const s = await fresh(here)
    const created = await s.head()
    expect(Object.keys(partsOf(created)).sort()).toEqual(['alpha', 'beta'])
    const { alpha } = await step(s, { alpha: '', beta: 'reject' }, 1)
    const head = await s.head()
    expect(head).toMatchObject({ release_id: idOf(alpha), component: 'alpha' })
    expect(partsOf(head)['beta']).toBe(partsOf(created)['beta'])
    expect(partsOf(head)['alpha']).not.toBe(partsOf(created)['alpha'])
    expect(head['content_id']).not.toBe(created['content_id'])
  })

  it('is consumed by each component on its own: one report, a row of each, also over a restart [release.components] [report.consumed-once]', async () => {
    const s = await fresh(here)
    const { ids } = await step(s, { alpha: '', beta: '' }, 1)
    const rows = await s.rows()
    expect(rows.map((row) => row['consumed_ids'])).toEqual([[...ids].sort(), [...ids].sort()])
    await here.restart()
    await step(s, { alpha: '', beta: '' }, 2)
    expect(await s.rows()).toHaveLength(4)
  })

  it('fits a new scenario of the same components and no other: 409, and nothing is created [scenario.create-release] [errors.409-base]', async () => {
    const [pair, flat] = [await fresh(here), await fresh(here, undefined, { recipe: 'ledger' })]
    const head = await pair.head()
    const wrong = await here.post('/svc/scenarios', { name: 'misfit', release_id: idOf(await flat.head()) })
    expectRefusal(wrong, 409, 'other_base')
    expect(await scenarioNames(here)).not.toContain('misfit')
    expect((await here.post('/svc/scenarios', { name: 'fitting', release_id: idOf(head) })).status).toBe(201)
    expect(partsOf(await trainee(here, 'fitting').head())).toEqual(partsOf(head))
  })

  it('takes an instruction once, for the trainer that leads [instruction.lifecycle]', async () => {
    const s = await fresh(here, 'manual')
    const [first, second] = [await s.ask('add'), await s.ask('add')]
    await s.consumer(second)
    expect((await rowsOf(s, 'alpha', 2)).map((row) => memberOf(row, 'training_request')['id'])).toEqual([first, second])
    expect(await s.rows()).toHaveLength(2)
  })
})

describe('the status of several trainers', () => {
  it('shows each, and scenario-wide the latest step of any and the trainer that leads [status.components]', async () => {
    const s = await fresh(here)
    const { alpha } = await step(s, { alpha: '', beta: 'reject' }, 1)
    await s.report({ feedback: 'no reference' })
    const { beta } = await step(s, { alpha: 'skip', beta: '' }, 2)
    const status = await s.status()
    const steps = (await s.rows()).map((row) => row['step'])
    expect(status).toMatchObject({ scenario_step: 4, last_committed_step: { step: 4 }, training_mode: 'auto', batch_ready: false })
    expect(steps).toEqual([1, 2, 3, 4])
    const parts = memberOf(status, 'components')
    expect(Object.keys(parts).sort()).toEqual(['alpha', 'beta'])
    for (const name of ['alpha', 'beta'])
      expect(Object.keys(memberOf(parts, name)).sort()).toEqual(['batch_ready', 'last_committed_step', 'processor', 'training_mode'])
    expect(memberOf(parts, 'alpha')).toMatchObject({ processor: { set_aside: { 'quotes no receipt': 1 } } })
    expect(memberOf(memberOf(parts, 'beta'), 'last_committed_step')['step']).toBe(beta['step'])
    expect(memberOf(memberOf(parts, 'alpha'), 'last_committed_step')['step']).not.toBe(alpha['step'])
    expect(status['processor']).toEqual(memberOf(parts, 'alpha')['processor'])
  })

  it('names the component that fails, and the other trains on [status.components] [training.failed-step]', async () => {
    const s = await fresh(here)
    await step(s, { alpha: '', beta: 'throw' }, 1)
    await until(async () => (await here.get('/svc/status')).text.includes(`${s.name}/beta: StepFailure: told to throw`))
    expect((await here.get('/svc/status')).json['error']).not.toContain(`${s.name}/alpha`)
    await s.remove()
  })
})

describe('the catalog of the pulled tree', () => {
  it('lists only what changed the tree, each on the previous listed release [harness.rule-3]', async () => {
    const s = await fresh(here)
    const created = await s.head()
    const { alpha: first } = await step(s, { alpha: '', beta: 'reject' }, 1)
    const { beta } = await step(s, { alpha: 'skip', beta: '' }, 2)
    const { alpha: second } = await step(s, { alpha: '', beta: 'reject' }, 3)
    const listed = await s.listed()
    expect(listed.map(({ operation, component, result }) => [operation, component, result])).toEqual([
      ['create', undefined, 'published'],
      ['train', 'alpha', 'published'],
      ['train', 'alpha', 'skipped'],
      ['train', 'alpha', 'published'],
    ])
    expect(listed.map(idOf)).toEqual([idOf(created), idOf(first), idOf(first), idOf(second)])
    expect(listed[1]).toMatchObject({ parent_release_id: idOf(created), composed_parent_release_id: idOf(created) })
    expect(listed[3]).toMatchObject({ parent_release_id: idOf(first), composed_parent_release_id: idOf(beta) })
    expect(listed[3]).not.toHaveProperty('composed_release_id')
  })

  it('names a step without a change by the listed release it ran on, and keeps the combination beside it [harness.rule-3]', async () => {
    const s = await fresh(here)
    const { beta } = await step(s, { alpha: 'skip', beta: '' }, 1)
    const { alpha } = await step(s, { alpha: 'reject', beta: 'skip' }, 2)
    const row = (await s.listed()).find((one) => one['step'] === alpha['step'])
    expect(row).toMatchObject({ result: 'rejected', release_id: idOf((await s.listed())[0] ?? {}), composed_release_id: idOf(beta) })
  })

  it('names the listed release of a rollback target that is not listed, and keeps the target beside it [harness.rule-3]', async () => {
    const s = await fresh(here)
    const created = await s.head()
    const { beta } = await step(s, { alpha: 'skip', beta: '' }, 1)
    await step(s, { alpha: '', beta: 'skip' }, 2)
    const { json } = await s.move('rollback', idOf(beta))
    const row = (await s.listed()).at(-1)
    expect(row).toMatchObject({
      operation: 'rollback',
      release_id: json['release_id'],
      rollback_target_release_id: idOf(created),
      composed_rollback_target_release_id: idOf(beta),
    })
  })

  it('has a page for each row by its place, and every release stays addressable by its id [harness.catalog]', async () => {
    const s = await fresh(here)
    const { beta } = await step(s, { alpha: '', beta: '' }, 1)
    expect((await s.listed()).map((row) => textAt(row, 'page_path').split('?')[0])).toEqual(
      [0, 1].map((at) => `/svc/harness/releases/${at}/page`),
    )
    expect((await s.move('rollback', idOf(beta))).status).toBe(200)
  })
})

describe('moving the head of several components', () => {
  it('promotes what a held step changed, onto the combination served now [movement.promote] [release.components]', async () => {
    const s = await fresh(here)
    const { alpha: held } = await step(s, { alpha: 'hold', beta: 'skip' }, 1)
    const { beta } = await step(s, { alpha: 'skip', beta: '' }, 2)
    await s.move('promote', idOf(held))
    const head = await s.head()
    expect(head).toMatchObject({ operation: 'promote', parent_release_id: idOf(beta), rollback_target_release_id: idOf(held) })
    expect(partsOf(head)).toEqual({ alpha: partsOf(held)['alpha'], beta: partsOf(beta)['beta'] })
    expect((await s.listed()).map(idOf)).toContain(idOf(head))
  })

  it('lists a promote only when it changed the tree [harness.rule-3] [movement.promote]', async () => {
    const s = await fresh(here)
    const { beta: held } = await step(s, { alpha: 'skip', beta: 'hold' }, 1)
    expect((await s.move('promote', idOf(held))).status).toBe(200)
    expect((await s.listed()).map(({ operation }) => operation)).toEqual(['create', 'train'])
  })

  it('rolls every component back [movement.rollback] [release.components]', async () => {
    const s = await fresh(here)
    const created = await s.head()
    await step(s, { alpha: '', beta: '' }, 1)
    expect((await s.move('rollback', idOf(created))).json['content_id']).toBe(created['content_id'])
    expect(partsOf(await s.head())).toEqual(partsOf(created))
  })
})

const chat = { model: 'm', messages: [] }
const lastSent = (): JsonObject => JSON.parse(here.upstream.received.at(-1)?.body.toString() ?? '{}')

describe("a component's evaluation", () => {
  it("runs every other component's hooks and leaves its own out [evaluation.component-hooks]", async () => {
    const s = await fresh(here)
    await here.post('/v1/chat/completions', chat, named(s.name))
    expect(lastSent()).toMatchObject({ alpha: true, beta: true })
    for (const [component, other] of Object.entries({ alpha: 'beta', beta: 'alpha' })) {
      const answer = await here.post(`/svc/scenarios/${s.name}/components/${component}/evaluation/v1/chat/completions`, chat)
      expect(answer.status).toBe(200)
      expect(lastSent()).toEqual({ ...chat, [other]: true })
    }
  })

  it('of a component that is not served is 404 [evaluation.component-unknown]', async () => {
    const s = await fresh(here)
    const answer = await here.post(`/svc/scenarios/${s.name}/components/gamma/evaluation/v1/chat/completions`, chat)
    expectRefusal(answer, 404, 'unknown_component')
  })
})

/** Alpha works while beta publishes; then alpha may go on. */
async function overtaken(recipe: string) {
  const s = await fresh(here, undefined, { recipe })
  const created = await s.head()
  const [gate, other] = [gateIn(here), gateIn(here)]
  const [receipt, report] = await s.reported({ feedback: { alpha: `wait ${gate.path}`, beta: `wait ${other.path}` } })
  await gate.reached()
  await other.open()
  const beta = await newest(s, 'beta', 1)
  await gate.open()
  const alpha = await newest(s, 'alpha', 1)
  expect(partsOf(await s.head())).toEqual({ alpha: partsOf(alpha)['alpha'], beta: partsOf(beta)['beta'] })
  expect(alpha).toMatchObject({ step: 2, result: 'published', parent_release_id: idOf(beta) })
  expect((await s.rows())[1]).toMatchObject({ consumed_ids: [receipt, report].sort() })
  return { s, created, beta, metrics: memberOf(alpha, 'metrics') }
}

describe('a result that another component overtook', () => {
  it('lands on the new head under merge, with a note in its metrics [training.stale]', async () => {
    const { created, beta, metrics } = await overtaken('pair')
    expect(metrics).toMatchObject({ merged_onto: idOf(beta), saw: { base: idOf(created), again: false } })
  })

  it.each([
    ['judged again', 'reevaluate', true],
    ['discarded and made again', 'refuse', false],
  ])('is %s on the new head under %s [training.stale]', async (_, recipe, again) => {
    const { beta, metrics } = await overtaken(recipe)
    expect(metrics).toMatchObject({ saw: { base: idOf(beta), again, step: 2 } })
    expect(metrics).not.toHaveProperty('merged_onto')
  })

  it('is reported in the status when it happens again and again, and lands in the end [training.stale]', async () => {
    const s = await fresh(here, undefined, { recipe: 'refuse' })
    const path = join(here.directory, randomUUID())
    const gate = (at: number) => gateAt(`${path}-${at}`)
    const other = gateIn(here)
    const [, report] = await s.reported({ feedback: { alpha: `wait ${path}-%`, beta: `wait ${other.path}` } })
    for (let at = 1; at <= STEP_OVERTAKEN_MAX; at += 1) {
      await gate(at).reached()
      if (at > 1) await s.reported({ feedback: { alpha: '', beta: '' } })
      await other.open()
      await rowsOf(s, 'beta', at)
      await gate(at).open()
    }
    await until(async () => (await here.get('/svc/status')).text.includes(`${s.name}/alpha: Overtaken`))
    for (const at of [4, 5, 6]) await gate(at).open()
    await s.reported({ feedback: { alpha: '', beta: 'skip' } })
    // New traffic does not end its back-off; a configuration change does.
    await s.useMode('auto')
    expect((await newest(s, 'alpha', 1))['result']).toBe('published')
    expect((await s.rows()).filter((row) => JSON.stringify(row['consumed_ids']).includes(report))).toHaveLength(2)
    await until(async () => !(await here.get('/svc/status')).text.includes(`${s.name}/alpha`))
  })
})
