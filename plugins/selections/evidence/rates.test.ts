import { array, assert, double, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NonInferiority } from './noninferiority.ts'
import { IS_SHORT } from '../../../test/support/short.ts'
import { intervalOf } from './wealth.ts'
import { levelOf, sumLevelOf } from './levels.ts'
import {
  fixedTestPowers,
  graded,
  inFamilies,
  noisy,
  playOut,
  powerIn,
  randomOf,
  scenariosPublishing,
  seeded,
  settled,
  skewed,
  sparse,
  swapped,
} from './testing.ts'
import { passable, requestsIn, usual } from './testing-requests.ts'
import { Superiority } from './superiority.ts'

/** In the short form half of each, of the same seeds. */
const many = (count: number): number => (IS_SHORT ? count / 2 : count)

const FRESH = { decided: 0, selected: 0 }
const PAIRS_MAX = 1000
/** Of the standard normal distribution, at the level of the first decision. */
const QUANTILE_FIRST = 2.0356

const spent = (from: number): number =>
  Array.from({ length: 50 }, (_, n) => levelOf(0.05, { decided: from + n, selected: 0 })).reduce((sum, one) => sum + one)

const level = (recent?: number): number => levelOf(0.05, { decided: 200, selected: 9, ...(recent !== undefined && { recent }) })

describe('changes that do nothing, fifty in a row', () => {
  it.each([
    ['every play is a new throw', noisy(60, 0), 20],
    ['a task always ends the same, and the change flips some by chance', settled(noisy(60, 0)), 20],
    ['each task gains or loses by chance, and plays differ too', swapped(20, 0.2), 40],
    ['tasks that are alike are flipped together', inFamilies(5, settled(noisy(12, 0))), 20],
    ['tasks that are alike gain or lose together', inFamilies(5, swapped(12, 0.4)), 20],
    ['scores from 0 to 1 gain a little mostly, and lose much now and then', skewed(60), 20],
    ['seeds give both sides the same luck half of the time', seeded(60, 0, 0.5), 20],
  ])('are published in no more than 5 of 100 scenarios where %s', (_where, world, all) => {
    const scenarios = many(all)
    expect(scenariosPublishing(world, scenarios)).toBeLessThanOrEqual(0.05 * scenarios)
  })
})

describe('a gain of ten points', () => {
  it('is found as often as by a test of fixed size, with less than 0.6 of its episodes', () => {
    const runs = 200
    const world = noisy(60, 0.1)
    const { power, episodes } = powerIn(world, runs, 0, PAIRS_MAX)
    expect(power).toBeGreaterThanOrEqual(0.95)
    const sizes = Array.from({ length: 50 }, (_, n) => 20 * (n + 1))
    const powers = fixedTestPowers(world, runs, sizes, QUANTILE_FIRST)
    const enough = sizes[powers.findIndex((fixed) => fixed >= power)] ?? Infinity
    expect(episodes).toBeLessThan(0.6 * 2 * enough)
  })

  it('is found with half of the episodes where seeds give both sides most of the same luck', () => {
    const [none, most] = [0, 0.9].map((share) => powerIn(seeded(60, 0.1, share), many(100), 0, PAIRS_MAX))
    expect(most?.power).toBeGreaterThanOrEqual(none?.power ?? 1)
    expect(most?.episodes).toBeLessThan(0.5 * (none?.episodes ?? 0))
  })

  it('is not found where it is a loss', () => {
    expect(powerIn(noisy(60, -0.05), many(200), 0, PAIRS_MAX).power).toBe(0)
  })
})

describe('a gain of some tasks alone, or on few tasks', () => {
  it.each([10, 50])('is found where 12 of 60 tasks are fixed, after %i decisions', (decided) => {
    expect(powerIn(sparse(60, 12, false), 1, decided, PAIRS_MAX).power).toBe(1)
    expect(powerIn(sparse(60, 12, true), many(40), decided, PAIRS_MAX).power).toBeGreaterThanOrEqual(0.8)
  })

  it('is found by ten tasks where it is 20 points', () => {
    expect(powerIn(noisy(10, 0.2), many(200), 0, 400).power).toBeGreaterThanOrEqual(0.9)
  })

  it('is found by twenty tasks whose scores lie between 0 and 1, in three plays of each', () => {
    expect(powerIn(graded(20, 0.2), many(200), 0, 59).power).toBeGreaterThanOrEqual(0.7)
    expect(scenariosPublishing(graded(20, 0), 20, 59)).toBe(0)
  })
})

describe('a change that does nothing', () => {
  it('is found harmless nineteen times of twenty by four tasks whose plays differ', () => {
    const runs = many(200)
    const passed = Array.from({ length: runs }, (_, run) => {
      const { play } = noisy(4, 0)(randomOf(run), randomOf(run))
      const exam = new NonInferiority({ tasks: 4, margin: 0.1, level: 0.05, pairsMax: 1000 })
      for (let batch = exam.next(); batch.length > 0; batch = exam.next()) for (const { task } of batch) exam.add(task, play(task))
      return exam.stopped === 'success'
    })
    expect(passed.filter(Boolean).length / runs).toBeGreaterThanOrEqual(0.93)
  })
})

describe('twenty requests in a row', () => {
  const losing = { tasks: 4, chanceOf: passable, loss: 0.03 }

  it('lose no more than the margin together where each loses three points, however they are judged one by one', () => {
    const alone = requestsIn({ ...losing, boundsSum: false }, many(10))
    expect(alone.lost).toBeGreaterThan(0.1)
    const together = requestsIn({ ...losing, boundsSum: true }, many(10))
    expect(together.lost).toBeLessThan(0.1)
    expect(together.beyond).toBe(0)
  })

  it('are nearly all published where they are harmless and four tasks protect', () => {
    expect(requestsIn({ tasks: 4, chanceOf: usual, loss: 0, boundsSum: true }, many(10)).published).toBeGreaterThanOrEqual(0.9)
  })

  it('have levels that add up to alpha at most, however many fail', () => {
    const levels = Array.from({ length: 100_000 }, (_, failed) => sumLevelOf(0.05, { failed }))
    expect(levels[0]).toBe(0.03)
    expect(levels.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(0.05)
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
        const play = (task: number): number => -Math.abs(given[task % given.length] ?? 0)
        const families = Array.from({ length: 20 }, (_, task) => task)
        expect(playOut(() => ({ families, play }), seed, FRESH, PAIRS_MAX).stopped).not.toBe('success')
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
      const { play } = noisy(1, 0)(randomOf(run), randomOf(run))
      const [low, high] = intervalOf(
        Array.from({ length: 200 }, () => ({ value: play(0), weightMax: 1 })),
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
