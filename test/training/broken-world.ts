/** A service with the recipes of fixtures/training/broken.ts, and an unrelated scenario that must go on training. */
import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'
import * as broken from '../fixtures/training/broken.ts'
import { PAIR_RECIPE } from '../spec/support/helpers.ts'
import { fresh, type Trainee } from '../spec/support/trainee.ts'
import { lazily, sharedWorld } from '../support/world.ts'

export const BROKEN = join(import.meta.dirname, '..', 'fixtures', 'training', 'broken.ts')
export type Broken = Exclude<keyof typeof broken, 'mood' | 'POISON'>

export function brokenWorld() {
  const recipes = Object.entries(broken).filter(([, exported]) => typeof exported === 'object' && 'plugin' in exported)
  const uses = Object.fromEntries(recipes.map(([name]) => [`recipes.${name}.use`, `${BROKEN}#${name}`]))
  const here = sharedWorld({
    backend: 'sqlite',
    settings: { recipe: 'sound', 'recipes.pair.use': PAIR_RECIPE, 'svc.training_threads': 3, ...uses },
  })
  const scenarioOf = (recipe: Broken): Promise<Trainee> => fresh(here, undefined, { recipe })
  let made: Trainee
  const neighbour = lazily(() => made)
  beforeAll(async () => {
    made = await scenarioOf('sound')
  })
  const expectOthersTrain = async (): Promise<void> => {
    const [, report] = await neighbour.reported()
    expect(await neighbour.consumer(report)).toMatchObject({ metrics: { saw: { samples: 1 } } })
    expect(await neighbour.errors()).toEqual([])
  }
  return { here, scenarioOf, neighbour, expectOthersTrain }
}
