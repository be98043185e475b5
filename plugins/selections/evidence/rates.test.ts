import { array, assert, double, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { intervalOf } from './wealth.ts'
import { levelOf } from './levels.ts'
import { randomOf } from './lots.ts'
import { betaOf, fixedTestPowers, gateOf, playOut, type PairSimulator, type SimulatedWorld } from './testing.ts'
import { Superiority } from './superiority.ts'

const TASKS = 60
const FRESH = { decided: 0, selected: 0 }
const CHAIN_STEPS = 50
/** Of the standard normal distribution, at the level of the first decision. */
const QUANTILE_FIRST = 2.1746

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

/** The twelve that fail most are solved, and the others go on as they do. */
const sparse = (run: number): PairSimulator => {
  const random = randomOf(run)
  const chances = Array.from({ length: TASKS }, () => betaOf(random)).toSorted((one, other) => one - other)
  const passes = (chance: number): number => (random() < chance ? 1 : 0)
  return (task) => passes(task < 12 ? 1 : (chances[task] ?? 0)) - passes(chances[task] ?? 0)
}
const shareFound = (runs: number, tasks: number, gate: (run: number) => PairSimulator, decided: number): number =>
  Array.from({ length: runs }, (_, run) => playOut(tasks, gate(run), `run ${run}`, { decided, selected: 0 })).filter(
    ({ stopped }) => stopped === 'success',
  ).length / runs

const tenTasks = (run: number): PairSimulator => gateOf({ tasks: 10, gain: 0.2, kind: 'noisy', run })
const spent = (from: number): number =>
  Array.from({ length: 50 }, (_, n) => levelOf(0.05, { decided: from + n, selected: 0 })).reduce((sum, one) => sum + one)

const level = (recent?: number): number => levelOf(0.05, { decided: 200, selected: 9, ...(recent !== undefined && { recent }) })

describe('changes that do nothing, fifty in a row', () => {
  it.each<readonly [string, SimulatedWorld['kind'], number, number]>([
    ['every play is a new throw', 'noisy', 0, 40],
    ['a task always ends the same, and the change flips some by chance', 'settled', 0, 60],
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

describe('a gain of some tasks alone, or on few tasks', () => {
  it.each([10, 50])('is found where 12 of 60 tasks are fixed, after %i decisions', (decided) => {
    expect(shareFound(60, TASKS, sparse, decided)).toBeGreaterThanOrEqual(0.5)
  })

  it('is found by ten tasks where it is 20 points', () => {
    expect(shareFound(200, 10, tenTasks, 0)).toBeGreaterThanOrEqual(0.9)
  })
})

describe('the levels of all decisions', () => {
  it('stay within alpha in any fifty in a row while nothing is published, and never run dry', () => {
    for (const from of [0, 1, 7, 1000]) expect(spent(from)).toBeLessThanOrEqual(0.05)
    expect(spent(0)).toBeGreaterThan(0.049)
    expect(levelOf(0.05, { decided: 100_000, selected: 0 })).toBe(levelOf(0.05, { decided: 50, selected: 0 }))
  })

  it('earn back for what was published among the last fifty alone', () => {
    expect(level(3)).toBeCloseTo(4 * level(0), 12)
    expect(level()).toBe(level(0))
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
        const exam = new Superiority({
          families: Array.from({ length: tasks }, (_, task) => task),
          seed: `${seed}`,
          level: 0.02,
          pairsMax: 150,
        })
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
