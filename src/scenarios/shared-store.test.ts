/** Two registries over one store, as two processes of one deployment have them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import recordOnly from '../../plugins/recipes/record-only/index.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { nothing, ROOM, servicesInMemory } from '../../test/support/services.ts'
import type { Commit } from '../contract/index.ts'
import { inLandingLane } from './follow.ts'
import { landRow } from './land.ts'
import type { Services } from './services.ts'
import { ScenarioFiles } from './files.ts'
import { Registry } from './registry.ts'

let folder: string
let services: Services
let here: Registry
let there: Registry
beforeEach(async () => {
  folder = temporaryFolder()
  services = await servicesInMemory({ plain: recordOnly.plugin, other: recordOnly.plugin }, { files: new ScenarioFiles(folder) })
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
    await there.remove('a')
    await there.create('a', SEED, () => null)
    await publish(there, 'another')
    await publish(there, 'and another')
    await expect(here.move('a', first, 'rollback')).rejects.toMatchObject({ code: 'unknown_scenario' })
    expect(await stepsOf()).toEqual([0, 1, 2])
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
