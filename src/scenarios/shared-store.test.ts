/** Two registries over one store, as two processes of one deployment have them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import recordOnly from '../../plugins/recipes/record-only/index.ts'
import { wrapStore } from '../../test/fixtures/wrap-store.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { emptyExchange, nothing, ROOM, servicesInMemory } from '../../test/support/services.ts'
import type { Commit, Recipe } from '../contract/index.ts'
import { inLandingLane } from './elsewhere.ts'
import { landRow } from './land.ts'
import type { Services } from './services.ts'
import { ScenarioFiles } from './files.ts'
import { Registry } from './registry.ts'

/** Run once, when a release is loaded. */
let onLoad: (() => Promise<void>) | null
const held: Recipe = {
  bind: async (scope) => {
    const binding = await recordOnly.plugin.bind(scope)
    return { ...binding, surface: { loader: { load: () => takeOnLoad()?.() ?? nothing() } } }
  },
}

const takeOnLoad = (): typeof onLoad => {
  const taken = onLoad
  onLoad = null
  return taken
}

let folder: string
let services: Services
let here: Registry
let there: Registry
beforeEach(async () => {
  folder = temporaryFolder()
  onLoad = null
  services = await servicesInMemory({ plain: held, other: held }, { files: new ScenarioFiles(folder) })
  ;[here, there] = [await Registry.open(services, ROOM), await Registry.open(services, ROOM)]
})

const SEED = { release: null, recipe: null }

/** Makes the scenario with a second release, loads it at both, and answers its releases, oldest first. */
async function twoReleases(): Promise<readonly string[]> {
  await here.create('a', SEED, () => null)
  await publish(here, 'second')
  const loaded = [here, there].map((each) => each.use('a', ({ releases }) => releases.page({ after: -1, limit: 10 })))
  const [rows = []] = await Promise.all(loaded)
  return rows.map(({ release }) => release.release_id)
}

const publish = (at: Registry, text: string): Promise<Commit> =>
  at.use('a', (scenario) =>
    inLandingLane(services, scenario, async () => {
      const content_id = await services.contents.write({ kind: 'files', files: { 'a.txt': text } })
      const row = { operation: 'train', outcome: 'published', consumed_ids: [], metrics: {}, state: {} } as const
      return landRow(services, scenario, row, { content_id })
    }),
  )

/** A registry that misses what the store tells, with the scenario loaded. */
async function openDeaf(): Promise<Registry> {
  const missing = await Registry.open({ ...services, store: wrapStore(services.store, { follow: () => () => undefined }) }, ROOM)
  await missing.use('a', nothing)
  return missing
}

const stepsOf = async (): Promise<readonly number[]> =>
  (await services.store.scenario('a').commits({ after: -1, limit: 100 })).map(({ step }) => step)

describe('a scenario made at one', () => {
  beforeEach(() => here.create('a', SEED, () => null))

  it('is known at the other, and used there', async () => {
    expect(await there.has('a')).toBe(true)
    expect(await there.names()).toEqual(['a'])
    expect(await there.recipeOf('a')).toBe('plain')
    expect(await there.use('a', ({ name }) => Promise.resolve(name))).toBe('a')
  })

  it('counts towards the limit at the other', async () => {
    const full = await Registry.open(services, { ...ROOM, scenariosMax: 1 })
    await expect(full.useOrCreate('b', null, nothing)).rejects.toMatchObject({ code: 'too_many_scenarios' })
  })
})

describe('a row that landed at one', () => {
  it('comes before the next one of the other, which sees it', async () => {
    const [first = ''] = await twoReleases()
    await there.move('a', first, 'rollback')
    const landed = await publish(here, 'third')
    expect(landed.step).toBe(3)
    expect(await stepsOf()).toEqual([0, 1, 2, 3])
    expect(here.loaded('a')?.history.step).toBe(3)
  })

  it('is not followed by a scenario whose name another one has by now', async () => {
    const [first = ''] = await twoReleases()
    const missing = await openDeaf()
    await there.remove('a')
    await there.create('a', SEED, () => null)
    await publish(there, 'another')
    await publish(there, 'and another')
    await expect(missing.move('a', first, 'rollback')).rejects.toMatchObject({ code: 'unknown_scenario' })
    expect(await stepsOf()).toEqual([0, 1, 2])
  })
})

describe('what is done at one', () => {
  it('as a promote or rollback is served by the other', async () => {
    const [first = ''] = await twoReleases()
    const { head } = await here.move('a', first, 'rollback')
    await vi.waitFor(() => expect(there.loaded('a')?.head()).toEqual(head))
    await publish(there, 'third')
    await vi.waitFor(() => expect(here.loaded('a')?.head()).toEqual(there.loaded('a')?.head()))
  })

  it('while the other is loading it is served there too', async () => {
    await here.create('a', SEED, () => null)
    const gate = Promise.withResolvers<void>()
    const bound = Promise.withResolvers<void>()
    onLoad = () => {
      bound.resolve()
      return gate.promise
    }
    const loading = there.use('a', nothing)
    await bound.promise
    await publish(here, 'second')
    gate.resolve()
    await loading
    await vi.waitFor(() => expect(there.loaded('a')?.head()).toEqual(here.loaded('a')?.head()))
  })

  it('and was missed here is noticed with the next record', async () => {
    await twoReleases()
    const missing = await openDeaf()
    const landed = await publish(there, 'third')
    expect(missing.loaded('a')?.history.step).toBe(1)
    await missing.use('a', (scenario) => scenario.append([emptyExchange('r')]))
    await vi.waitFor(() => expect(missing.loaded('a')?.head()).toEqual(landed.release))
  })

  it('to the model settings counts at the other', async () => {
    await twoReleases()
    await here.update('a', { model: { model: 'mine' } })
    await vi.waitFor(() => expect(there.loaded('a')?.model.model).toBe('mine'))
    await there.update('a', { model: null })
    await vi.waitFor(() => expect(here.loaded('a')?.model.model).toBe('m'))
  })

  it('as archiving unloads it at the other, and requests in flight are refused', async () => {
    await twoReleases()
    const gate = Promise.withResolvers<void>()
    const inFlight = there.use('a', async (scenario) => {
      await gate.promise
      return scenario.append([emptyExchange('late')])
    })
    await here.remove('a')
    gate.resolve()
    await expect(inFlight).rejects.toMatchObject({ code: 'unknown_scenario' })
    await vi.waitFor(() => expect(there.loaded('a')).toBeUndefined())
    await expect(there.use('a', nothing)).rejects.toMatchObject({ code: 'unknown_scenario' })
    expect(await there.has('a')).toBe(false)
    expect(await there.recipeOf('a')).toBeNull()
    await there.create('a', { release: null, recipe: 'other' }, () => null)
    expect(await here.recipeOf('a')).toBe('other')
    expect(await services.store.scenario('a').records({ after: 0, limit: 9 })).toEqual([])
  })
})

describe('both at once', () => {
  it('move the head: both moves land, one after the other', async () => {
    const [first = ''] = await twoReleases()
    await Promise.all([here.move('a', first, 'rollback'), publish(there, 'third'), publish(here, 'fourth'), publish(there, 'fifth')])
    expect(await stepsOf()).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('ask for the same move: it lands once, and the second finds it done', async () => {
    const [first = ''] = await twoReleases()
    const moved = await Promise.all([here, there].map((each) => each.move('a', first, 'rollback')))
    expect(moved.map(({ step }) => step)).toEqual([2, 2])
    expect(await stepsOf()).toEqual([0, 1, 2])
  })

  it('create a scenario implicitly: both use the one that landed', async () => {
    const starts = await Promise.all([here, there].map((each) => each.useOrCreate('a', null, ({ created }) => Promise.resolve(created))))
    expect(starts[0]).toEqual(starts[1])
  })

  it('create a scenario: one makes it, and the other finds it', async () => {
    const made = await Promise.all([here, there].map((each) => each.create('a', SEED, () => ({ model: 'mine', api_key: 'k' }))))
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(1)
    const [one, two] = made.map(({ scenario }) => scenario)
    expect(one?.created).toEqual(two?.created)
    expect(one?.model).toEqual(two?.model)
    const kept = readdirSync(join(folder, 'scenarios'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.json'))
    expect(kept).toHaveLength(1)
  })

  it('create a scenario of different recipes: the later one is told which it has', async () => {
    const made = await Promise.allSettled([
      here.create('a', { release: null, recipe: 'plain' }, () => null),
      there.create('a', { release: null, recipe: 'other' }, () => null),
    ])
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(made.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'other_recipe' } })
  })
})
