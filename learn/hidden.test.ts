/** Families that nobody named, by simulation: what the gate publishes that does nothing, and what it still finds. */
import { expect, it } from 'vitest'
import { playHidden, type HiddenWorld } from './simulate/hidden.ts'

const SETTLED: HiddenWorld = { families: 12, size: 5, isSettled: true, sway: 0 }
const NOISY: HiddenWorld = { families: 12, size: 5, isSettled: false, sway: 0.4 }
const UNLIKE: HiddenWorld = { families: 60, size: 1, isSettled: true, sway: 0 }
const SCENARIOS = Array.from({ length: 12 }, (_, scenario) => scenario)
const MINUTES = 60_000

it(
  'where five tasks may be alike, nothing is published that does nothing, from the first decision on',
  () => {
    for (const world of [SETTLED, NOISY])
      expect(SCENARIOS.map((scenario) => playHidden(world, scenario, { learns: false, alike: 5 }).publishedAt)).toEqual(
        SCENARIOS.map(() => null),
      )
  },
  10 * MINUTES,
)

it(
  'families whose plays agree are learnt within ten decisions, and tasks that are not alike stay apart',
  () => {
    const learnt = SCENARIOS.map((scenario) => playHidden(SETTLED, scenario, { learns: true, alike: 1 }))
    expect(learnt.filter(({ publishedAt }) => publishedAt !== null && publishedAt > 10)).toEqual([])
    const apart = SCENARIOS.map((scenario) => playHidden(UNLIKE, scenario, { learns: true, alike: 1 }))
    expect(apart.reduce((sum, { families }) => sum + families, 0) / apart.length).toBeGreaterThan(50)
  },
  10 * MINUTES,
)
