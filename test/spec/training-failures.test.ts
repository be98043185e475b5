/** Failed steps: failures of the trainer and of the service, what each leaves behind, and how the scenario continues. */
import { describe, expect, it } from 'vitest'
import { STEP_FAILURES_MAX } from '../../src/contract/index.ts'
import { holdNextRow } from '../fixtures/training/gated-store.ts'
import { until } from '../support/wait.ts'
import { sharedWorld } from '../support/world.ts'
import { GATED_STORE, LEDGER_RECIPE } from './support/helpers.ts'
import { fresh, gateIn } from './support/trainee.ts'

const here = sharedWorld({ settings: { recipe: LEDGER_RECIPE, 'storage.record_backend': GATED_STORE } })

describe('a step on traffic that fails', () => {
  it('leaves a failed row, consumes nothing, and is named in the status until one succeeds [training.failed-step]', async () => {
    const s = await fresh(here)
    const gate = gateIn(here)
    const [receipt, report] = await s.reported({ feedback: `need ${gate.path}` })
    expect(await s.row(1)).toMatchObject({ consumed_ids: [], metrics: { skipped: 'step failed', error: 'told to throw' } })
    const failed = { result: 'failed', skipped: 'step failed', error: 'told to throw' }
    expect((await s.releases()).find(({ step }) => step === 1)).toMatchObject(failed)
    await until(async () => (await s.errors()).length > 0)
    expect(await s.errors()).toEqual([`${s.name}: StepFailure: told to throw`])
    await gate.open()
    await s.useMode('hybrid')
    expect(await s.consumer(report)).toMatchObject({ consumed_ids: [receipt, report].sort(), metrics: { saw: { samples: 1 } } })
    expect(await s.head()).toMatchObject({ result: 'published' })
    await until(async () => (await s.errors()).length === 0)
  })

  it('keeps no instruction waiting [training.failed-step]', async () => {
    const s = await fresh(here, 'hybrid')
    const [, report] = await s.reported({ feedback: 'throw' })
    await s.row(1)
    const asked = await s.ask('add')
    expect((await s.consumer(asked))['consumed_ids']).toEqual(expect.arrayContaining([asked, report]))
  })

  it('is tried again with the same batch, and given up in the end: the batch is set aside and the next goes on [training.given-up]', async () => {
    const s = await fresh(here)
    const [receipt, report] = await s.reported({ feedback: 'throw' })
    for (let step = 1; step < STEP_FAILURES_MAX; step += 1) {
      expect(await s.row(step)).toMatchObject({ consumed_ids: [], metrics: { skipped: 'step failed' } })
      await s.useMode(step % 2 === 0 ? 'auto' : 'hybrid')
    }
    expect(await s.row(STEP_FAILURES_MAX)).toMatchObject({
      consumed_ids: [receipt, report].sort(),
      metrics: { skipped: 'batch set aside after repeated failures', error: 'told to throw' },
    })
    const [, good] = await s.reported()
    expect(await s.consumer(good)).toMatchObject({ step: STEP_FAILURES_MAX + 1, metrics: { saw: { samples: 1 } } })
    await until(async () => (await s.errors()).length === 0)
  })

  it('stops no other scenario: each has its own line, and others train on [training.failed-step]', async () => {
    const [bad, worse, good] = [await fresh(here), await fresh(here), await fresh(here)]
    for (const s of [bad, worse]) await s.reported({ feedback: 'throw' })
    for (const s of [bad, worse]) await until(async () => (await s.errors()).length === 1)
    await good.reported()
    expect(await good.row(1)).toMatchObject({ metrics: { saw: { samples: 1 } } })
    expect(await good.errors()).toEqual([])
    for (const s of [bad, worse]) await s.remove()
    expect([await bad.errors(), await worse.errors()]).toEqual([[], []])
  })
})

describe('a result', () => {
  it('that cannot be kept is a failed step, and nothing is served or consumed [training.failed-step]', async () => {
    const s = await fresh(here)
    const created = await s.release()
    await s.reported({ feedback: 'escape' })
    const metrics = { skipped: 'step failed', error: expect.stringContaining('the result cannot be kept') }
    expect(await s.row(1)).toMatchObject({ consumed_ids: [], artifact_ref: null, metrics })
    expect((await s.head())['release_id']).toBe(created['release_id'])
    await s.remove()
  })

  it('that changes nothing is skipped, and consumes its batch [training.unchanged]', async () => {
    const s = await fresh(here)
    const [receipt, report] = await s.reported({ feedback: 'same' })
    expect(await s.row(1)).toMatchObject({
      artifact_ref: null,
      consumed_ids: [receipt, report].sort(),
      metrics: { skipped: 'nothing changed' },
    })
    expect(await s.release()).toMatchObject({ result: 'skipped' })
  })
})

it('a row that cannot be written leaves everything as it was; its batch is held and lands later [training.row-lost]', async () => {
  const s = await fresh(here)
  const created = await s.head()
  const row = holdNextRow()
  const [receipt, report] = await s.reported()
  await row.arrived
  row.fail(new Error('no space left on the device'))
  await until(async () => (await s.errors()).length === 1)
  expect(await s.errors()).toEqual([expect.stringContaining('no space left')])
  expect(await s.head()).toEqual(created)
  expect(await s.status()).toMatchObject({ scenario_step: 0, last_committed_step: null, batch_ready: true })
  await s.useMode('hybrid')
  expect(await s.row(1)).toMatchObject({ consumed_ids: [receipt, report].sort() })
  await until(async () => (await s.errors()).length === 0)
})
