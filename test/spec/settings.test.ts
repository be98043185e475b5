/** What people set of a scenario's training while it runs: its budgets, and who is served what is not proved. */
import { describe, expect, it } from 'vitest'
import { ownWorld, sharedWorld } from '../support/world.ts'
import { expectRefusal, LEDGER_RECIPE, named, textAt } from './support/helpers.ts'
import { fresh, type Trainee } from './support/trainee.ts'

const settings = {
  recipe: 'ledger',
  'recipes.ledger.use': LEDGER_RECIPE,
  'recipes.one-step.use': LEDGER_RECIPE,
  'recipes.one-step.evolution.max_steps': 1,
}
const here = sharedWorld({ backend: 'sqlite', settings })

const set = ({ name }: Trainee, evolution: object | null, world = here) => world.post(`/svc/scenarios/${name}/update`, { evolution })
const stopped = async (s: Trainee): Promise<unknown> => (await s.processor())['automatic_steps_stopped']
const listed = async ({ name }: Trainee, world = here): Promise<unknown> => {
  const rows: readonly object[] = Object((await world.get('/svc/scenarios')).json['scenarios'])
  return rows.find((row) => Object(row)['scenario'] === name)
}

describe('budgets', () => {
  it('are raised for one scenario, and traffic goes on; null is what is configured [settings.budgets]', async () => {
    const s = await fresh(here, 'manual', { recipe: 'one-step' })
    await s.asked('add')
    await s.reported()
    await s.useMode('auto')
    expect(await stopped(s)).toBe('evolution.max_steps (1) is used up')
    expect((await set(s, { max_steps: 2 })).json).toMatchObject({ evolution: { max_steps: 2 } })
    expect(await s.row(2)).toMatchObject({ metrics: { saw: { samples: 1 } } })
    expect(await stopped(s)).toBe('evolution.max_steps (2) is used up')
    await set(s, { max_failure_streak: 9 })
    expect(await listed(s)).toMatchObject({ evolution: { max_steps: 2, max_failure_streak: 9 } })
    await set(s, { max_steps: null })
    expect(await stopped(s)).toBe('evolution.max_steps (1) is used up')
    await set(s, null)
    expect(await listed(s)).toMatchObject({ evolution: {} })
  })

  it('are kept over a restart, and the audit names what was before [settings.budgets]', async () => {
    const own = await ownWorld({ backend: 'sqlite', settings })
    const s = await fresh(own)
    await set(s, { max_steps: 3 }, own)
    await set(s, { max_steps: 4 }, own)
    await own.restart()
    await own.get(`/svc/scenarios/${s.name}/contract`)
    expect(await listed(s, own)).toMatchObject({ evolution: { max_steps: 4 } })
    const [entry] = Object((await own.get('/svc/audit?order=newest&limit=1')).json['audit'])
    expect(entry).toMatchObject({ before: { evolution: { max_steps: 3 } }, after: { evolution: { max_steps: 4 } } })
  })
})

it('a provisional release is served to those whom the rollout names, from that moment on [settings.rollout]', async () => {
  const s = await fresh(here, 'auto')
  const head = textAt(await s.head(), 'release_id')
  await s.consumer((await s.reported({ feedback: 'offer' }))[1])
  const unproven = textAt(await s.release(), 'release_id')
  const pulled = async (asks: 'yes' | 'no'): Promise<unknown> =>
    (await here.get('/svc/harness', { ...named(s.name), 'x-svc-provisional': asks })).json['release_id']
  expect(await pulled('yes')).toBe(head)
  await set(s, { provisional: 'canary', canary_share: 0 })
  expect([await pulled('yes'), await pulled('no')]).toEqual([unproven, head])
  expect(await s.status()).toMatchObject({ provisional: { release_id: unproven, canary_share: 0 } })
  await set(s, { provisional: 'shadow' })
  expect(await pulled('yes')).toBe(head)
  expect(await s.status()).toMatchObject({ provisional: { canary_share: null } })
})

describe('a setting', () => {
  it.each([
    [{ max_steps: -1 }, 'must be a whole number, 0 or more'],
    [{ max_cost_per_day: 'much' }, 'must be a number, 0 or more'],
    [{ canary_share: 2 }, 'must be a number from 0 to 1'],
    [{ provisional: 'everybody' }, 'must be off, shadow or canary'],
    [{ max_dogs: 1 }, 'takes provisional, canary_share'],
    [7, 'must be an object of settings under evolution'],
  ])('that is misshapen, %j, is refused in a line [settings.refused]', async (evolution, words) => {
    const s = await fresh(here)
    const answer = await here.post(`/svc/scenarios/${s.name}/update`, { evolution })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(words)])
    expect(await listed(s)).toMatchObject({ evolution: {} })
  })

  it('that the recipe has no use for is refused, and with it the rest of the change [settings.refused]', async () => {
    const s = await fresh(here)
    expectRefusal(await set(s, { max_steps: 1, max_cost_per_day: 5 }), 501, 'unsupported_setting')
    expect(await listed(s)).toMatchObject({ evolution: {} })
  })
})
