/** The training mode of a scenario: from any to any its processor runs in, what a change leaves alone, and how long it lasts. */
import { describe, expect, it } from 'vitest'
import { until } from '../support/wait.ts'
import { ownWorld, sharedWorld } from '../support/world.ts'
import { expectRefusal, LEDGER_RECIPE, named, rowsOf } from './support/helpers.ts'
import { fresh, gateIn, type Trainee } from './support/trainee.ts'

const MODES = ['auto', 'manual', 'hybrid'] as const
const only = (mode: string) => ({ [`recipes.${mode}.use`]: `${LEDGER_RECIPE}#${mode}`, [`recipes.${mode}.data.training_mode`]: mode })

const here = sharedWorld({
  backend: 'sqlite',
  settings: { recipe: 'any', 'recipes.any.use': LEDGER_RECIPE, ...only('auto'), ...only('manual'), ...only('hybrid') },
})

const rowOf = async ({ name }: Trainee, at = here) =>
  rowsOf(await at.get('/svc/scenarios'), 'scenarios').find(({ scenario }) => scenario === name)
const modeOf = async (s: Trainee, at = here): Promise<unknown> => (await at.get(`/svc/scenarios/${s.name}/contract`)).json['training_mode']

describe('a change of mode', () => {
  it.each(MODES.flatMap((from) => MODES.map((to) => [from, to] as const)))(
    'from %s to %s is made where the processor runs in it [scenario.update]',
    async (from, to) => {
      const s = await fresh(here, from)
      expect(await s.useMode(to)).toMatchObject({ status: 200, json: { scenario: s.name, training_mode: to } })
      expect(await modeOf(s)).toBe(to)
      expect(await s.status()).toMatchObject({ training_mode: to })
    },
  )

  it.each(MODES.flatMap((from) => MODES.filter((to) => to !== from).map((to) => [from, to] as const)))(
    'from %s to %s is 501 where it does not, and changes nothing, a model sent along included [mode.unsupported] [errors.501]',
    async (from, to) => {
      const s = await fresh(here, undefined, { recipe: from, model: { model: 'mine' } })
      const before = await rowOf(s)
      expectRefusal(await s.useMode(to), 501, 'unsupported_mode')
      for (const model of [{ model: 'other' }, null]) {
        const answer = await here.post(`/svc/scenarios/${s.name}/update`, { training_mode: to, model })
        expectRefusal(answer, 501, 'unsupported_mode')
      }
      expect(before).toMatchObject({ training_mode: from, model: { model: 'mine' } })
      expect(await rowOf(s)).toEqual(before)
      expect(await s.releases()).toHaveLength(1)
    },
  )
})

describe('a step under way when the mode changes', () => {
  it.each(['manual', 'hybrid'] as const)('on traffic finishes as it was taken, in %s too [mode.switch-running]', async (to) => {
    const s = await fresh(here)
    const gate = gateIn(here)
    const [receipt, report] = await s.reported({ feedback: `wait ${gate.path}` })
    await gate.reached()
    await s.useMode(to)
    const asked = await s.ask('add')
    await gate.open()
    expect(await s.row(1)).toMatchObject({ consumed_ids: [receipt, report].sort(), metrics: { saw: { samples: 1 } } })
    expect(await s.row(2)).toMatchObject({ consumed_ids: [asked] })
  })

  it('on an instruction finishes as it was taken, in auto too [mode.switch-running]', async () => {
    const s = await fresh(here, 'manual')
    const { id: asked, open } = await s.paused()
    await s.reported()
    await s.useMode('auto')
    await open()
    expect(await s.row(1)).toMatchObject({ consumed_ids: [asked], metrics: { saw: { samples: 0 } } })
  })
})

it.each(['manual', 'hybrid'] as const)(
  'an instruction that was accepted waits in auto, over a restart too, and runs in %s [mode.instructions-wait]',
  async (later) => {
    const s = await fresh(here, 'manual')
    const { open } = await s.paused()
    const waiting = await s.ask('add')
    await s.useMode('auto')
    await open()
    await s.row(1)
    await here.restart()
    const [, report] = await s.reported()
    expect((await s.row(2))['consumed_ids']).toContain(report)
    expect(await s.progress(waiting)).toMatchObject({ state: 'queued', settled: false })
    expect(await s.processor()).toMatchObject({ pending_instructions: 1 })
    await s.useMode(later)
    expect(await s.row(3)).toMatchObject({ consumed_ids: [waiting], metrics: { training_request: { id: waiting } } })
    expect(await s.processor()).toMatchObject({ pending_instructions: 0 })
  },
)

describe('a chosen mode', () => {
  it('is kept after a failed step [mode.kept]', async () => {
    const s = await fresh(here, 'manual')
    await s.asked('throw')
    expect(await modeOf(s)).toBe('manual')
  })

  it('is kept while its scenario is unloaded, and lost on a restart [mode.kept] [mode.restart]', async () => {
    const small = await ownWorld({
      backend: 'sqlite',
      settings: { recipe: LEDGER_RECIPE, 'data.training_mode': 'hybrid', 'svc.max_loaded_scenarios': 1 },
    })
    const s = await fresh(small, 'manual')
    await until(async () => (await small.post('/v1/chat/completions', { model: 'm', messages: [] }, named('other'))).status === 200)
    expect(await rowOf(s, small)).toMatchObject({ loaded: false })
    // Loaded by the question, and perhaps unloaded before the next one.
    await until(async () => (await modeOf(s, small)) === 'manual' && (await rowOf(s, small))?.['training_mode'] === 'manual')
    await small.restart()
    await until(async () => (await modeOf(s, small)) === 'hybrid')
  })
})
