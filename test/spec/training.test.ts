/** What starts a step in each mode, which samples accompany an instruction, and the budgets of automatic steps. */
import { describe, expect, it } from 'vitest'
import { sharedWorld } from '../support/world.ts'
import { errorOf, LEDGER_RECIPE, named } from './support/helpers.ts'
import { fresh, type Trainee } from './support/trainee.ts'

const here = sharedWorld({
  backend: 'sqlite',
  settings: {
    recipe: 'ledger',
    'recipes.ledger.use': LEDGER_RECIPE,
    'recipes.two.use': LEDGER_RECIPE,
    'recipes.two.pipeline.task2batch.config.batch_size': 2,
    'recipes.one-step.use': LEDGER_RECIPE,
    'recipes.one-step.evolution.max_steps': 1,
    'recipes.streak.use': LEDGER_RECIPE,
    'recipes.streak.evolution.max_failure_streak': 2,
  },
})

/** A scenario in which a report and an instruction wait, and a step on an earlier instruction is about to settle as row 1. */
async function withBothWaiting(more = {}, reports = 1) {
  const s = await fresh(here, 'manual', more)
  const { open } = await s.paused()
  const reported: string[] = []
  for (let count = 0; count < reports; count += 1) reported.push((await s.reported())[1])
  return { s, open, asked: await s.ask('add'), reported }
}

describe('what starts a step', () => {
  it('in auto is a batch of traffic: the instruction waits [mode.auto] [mode.instructions-wait]', async () => {
    const { s, open, asked, reported } = await withBothWaiting()
    await s.useMode('auto')
    await open()
    expect((await s.row(2))['consumed_ids']).toContain(reported[0])
    const [, later] = await s.reported()
    expect((await s.row(3))['consumed_ids']).toContain(later)
    expect(await s.progress(asked)).toMatchObject({ state: 'queued' })
    expect(await s.processor()).toMatchObject({ pending_instructions: 1, buffered_requests: 1 })
  })

  it('in manual is an instruction, alone and without samples: traffic waits [mode.manual]', async () => {
    const { s, open, asked } = await withBothWaiting()
    await open()
    const later = await s.ask('add')
    expect(await s.row(2)).toMatchObject({ consumed_ids: [asked], metrics: { saw: { samples: 0 }, training_request: { id: asked } } })
    expect(await s.row(3)).toMatchObject({ consumed_ids: [later], metrics: { saw: { samples: 0 } } })
  })

  it('in hybrid is an instruction first, with what a batch would take beside it [mode.hybrid]', async () => {
    const { s, open, asked, reported } = await withBothWaiting()
    await s.useMode('hybrid')
    await open()
    const row = await s.row(2)
    expect(row).toMatchObject({ metrics: { training_request: { id: asked }, saw: { samples: 1 } } })
    expect(row['consumed_ids']).toEqual(expect.arrayContaining([asked, reported[0]]))
  })

  it('in hybrid is a batch of traffic when no instruction waits [mode.hybrid]', async () => {
    const s = await fresh(here, 'hybrid')
    const [receipt, report] = await s.reported({ score: 1 })
    const row = await s.row(1)
    expect(row['consumed_ids']).toEqual([receipt, report].sort())
    expect(Object.keys(Object(row['metrics']))).not.toContain('training_request')
  })

  it('in hybrid and manual is one instruction per step, oldest first [mode.hybrid] [instruction.lifecycle]', async () => {
    for (const mode of ['manual', 'hybrid'] as const) {
      const { s, open, asked } = await withBothWaiting({}, 0)
      const next = await s.ask('add')
      await s.useMode(mode)
      await open()
      expect(await s.row(2)).toMatchObject({ consumed_ids: [asked] })
      expect(await s.row(3)).toMatchObject({ consumed_ids: [next] })
    }
  })

  it.each([
    [0, 0],
    [1, 1],
    [3, 2],
  ])('beside an instruction rides at most a batch: of %i units %i [mode.hybrid]', async (waiting, riding) => {
    const { s, open, asked } = await withBothWaiting({ recipe: 'two' }, waiting)
    await s.useMode('hybrid')
    await open()
    expect(await s.consumer(asked)).toMatchObject({ metrics: { saw: { samples: riding } } })
  })

  it('is not an instruction in auto: it is 400, and nothing is queued [mode.auto] [train.rule-2-auto]', async () => {
    const s = await fresh(here, 'auto')
    const answer = await here.post('/svc/train', { text: 'add', session: 's', release_id: 'r' }, named(s.name))
    expect([answer.status, errorOf(answer)['code']]).toEqual([400, 'auto_mode'])
    expect(await s.processor()).toMatchObject({ pending_instructions: 0 })
  })
})

it.each(['auto', 'hybrid'] as const)('traffic collected in manual is batched in %s [mode.buffer-shared]', async (mode) => {
  const s = await fresh(here, 'manual')
  const [receipt, report] = await s.reported()
  await s.useMode(mode)
  expect(await s.row(1)).toMatchObject({ consumed_ids: [receipt, report].sort(), metrics: { saw: { samples: 1 } } })
})

const stopped = async (s: Trainee): Promise<unknown> => (await s.processor())['automatic_steps_stopped']

describe('budgets of automatic steps', () => {
  it('count every step, instructions too, and stop traffic alone [mode.budgets]', async () => {
    const s = await fresh(here, 'manual', { recipe: 'one-step' })
    await s.asked('add')
    const [, report] = await s.reported()
    await s.useMode('auto')
    expect(await stopped(s)).toBe('evolution.max_steps (1) is used up')
    expect(await s.status()).toMatchObject({ batch_ready: false })
    await s.useMode('hybrid')
    const asked = await s.ask('add')
    expect(await s.row(2)).toMatchObject({ metrics: { training_request: { id: asked } } })
    expect((await s.row(2))['consumed_ids']).toContain(report)
  })

  it('stop after so many steps in a row that brought nothing better; one that does lets traffic go on [mode.budgets]', async () => {
    const s = await fresh(here, 'auto', { recipe: 'streak' })
    for (const feedback of ['reject', 'skip', 'reject']) await s.consumer((await s.reported({ feedback }))[1])
    expect(await stopped(s)).toBe('evolution.max_failure_streak (2) steps in a row brought nothing better')
    await s.useMode('manual')
    await s.reported()
    await s.asked('add')
    expect(await stopped(s)).toBeUndefined()
    await s.useMode('auto')
    expect(await s.row(5)).toMatchObject({ metrics: { saw: { samples: 1 } } })
  })
})
