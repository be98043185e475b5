import { array, assert, double, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { intervalOf } from './wealth.ts'
import { levelOf, shareOf } from './levels.ts'
import { fixedTestPowers, gateOf, playOut, type SimulatedWorld } from './testing.ts'
import { Superiority } from './superiority.ts'

const TASKS = 60
const FRESH = { decided: 0, selected: 0 }
const CHAIN_STEPS = 50
/** Of the standard normal distribution, at the level of the first decision. */
const QUANTILE_FIRST = 1.9658

function playMany(world: Omit<SimulatedWorld, 'run' | 'tasks'>, runs: number): { readonly power: number; readonly episodes: number } {
  const played = Array.from({ length: runs }, (_, run) => playOut(TASKS, gateOf({ ...world, tasks: TASKS, run }), `run ${run}`, FRESH))
  return {
    power: played.filter(({ stopped }) => stopped === 'success').length / runs,
    episodes: played.reduce((sum, { episodes }) => sum + episodes, 0) / runs,
  }
}

/** Whether any of a scenario's first candidates is published, none of which changes anything. */
function anyPublished(kind: SimulatedWorld['kind'], gain: number, chain: number): boolean {
  return Array.from({ length: CHAIN_STEPS }, (_, decided) => decided).some((decided) => {
    const run = chain * CHAIN_STEPS + decided
    return playOut(TASKS, gateOf({ tasks: TASKS, gain, kind, run }), `run ${run}`, { decided, selected: 0 }).stopped === 'success'
  })
}
const chainsPublishing = (kind: SimulatedWorld['kind'], gain: number, chains: number): number =>
  Array.from({ length: chains }, (_, chain) => chain).filter((chain) => anyPublished(kind, gain, chain)).length

describe('changes that do nothing, fifty in a row', () => {
  it.each<readonly [string, SimulatedWorld['kind'], number, number]>([
    ['every play is a new throw', 'noisy', 0, 100],
    ['a task always ends the same, and the change flips some by chance', 'settled', 0, 100],
    ['each task gains or loses by chance, and plays differ too', 'swapped', 0.2, 40],
  ])('are published in no more than 5 of 100 scenarios where %s', (_where, kind, gain, chains) => {
    expect(chainsPublishing(kind, gain, chains)).toBeLessThanOrEqual(0.05 * chains)
  })
})

describe('a gain of ten points', () => {
  it('is found as often as by a test of fixed size, with less than 0.6 of its episodes', () => {
    const runs = 400
    const { power, episodes } = playMany({ gain: 0.1, kind: 'noisy' }, runs)
    expect(power).toBeGreaterThanOrEqual(0.95)
    const sizes = Array.from({ length: 50 }, (_, n) => 20 * (n + 1))
    const powers = fixedTestPowers({ tasks: TASKS, gain: 0.1, kind: 'noisy' }, runs, sizes, QUANTILE_FIRST)
    const enough = sizes[powers.findIndex((fixed) => fixed >= power)] ?? Infinity
    expect(episodes).toBeLessThan(0.6 * 2 * enough)
  })

  it('is not found where it is a loss', () => {
    expect(playMany({ gain: -0.05, kind: 'noisy' }, 200).power).toBe(0)
  })
})

describe('the levels of all decisions', () => {
  it('stay within alpha together while nothing is published', () => {
    const decisions = 100_000
    const spent = Array.from({ length: decisions }, (_, decided) => levelOf(0.05, { decided, selected: 0 })).reduce((sum, one) => sum + one)
    const rest = (0.05 * (shareOf(1) * 2 * Math.log(2) ** 2)) / Math.log(decisions + 1)
    expect(spent + rest).toBeLessThanOrEqual(0.05)
    expect(spent + rest).toBeGreaterThan(0.0499)
  })
})

describe('whatever the differences are', () => {
  const differences = array(double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 })

  it('nothing is selected without a win', () => {
    assert(
      property(differences, integer(), (given, seed) => {
        const gate = (task: number): number => -Math.abs(given[task % given.length] ?? 0)
        expect(playOut(20, gate, `${seed}`, FRESH).stopped).not.toBe('success')
      }),
      { numRuns: 50 },
    )
  })

  it('every weight is above 0 and at most 2, and every round comes to an end', () => {
    assert(
      property(differences, integer({ min: 7, max: 100 }), integer(), (given, tasks, seed) => {
        const exam = new Superiority({ tasks, seed: `${seed}`, level: 0.02, pairsMax: 150 })
        for (let batch = exam.next(); batch.length > 0; batch = exam.next())
          for (const { task, weight } of batch) {
            expect(weight).toBeGreaterThan(0)
            expect(weight).toBeLessThanOrEqual(2)
            exam.add(task, given[task % given.length] ?? 0, weight)
          }
        expect(exam.stopped).not.toBeNull()
      }),
      { numRuns: 50 },
    )
  })
})

describe('the interval', () => {
  it('holds the true mean difference at least as often as it says', () => {
    const runs = 100
    const held = Array.from({ length: runs }, (_, run) => {
      const gate = gateOf({ tasks: 1, gain: 0, kind: 'noisy', run })
      const [low, high] = intervalOf(
        Array.from({ length: 200 }, () => ({ value: gate(0), weightMax: 1 })),
        0.05,
      )
      return low <= 0 && high >= 0 && high - low < 1
    })
    expect(held.filter(Boolean).length).toBeGreaterThanOrEqual(95)
  })

  it('is everything while nothing was played', () => {
    expect(intervalOf([], 0.05)).toEqual([-1, 1])
  })
})
