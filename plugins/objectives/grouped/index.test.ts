/** The weights of the rollouts of a group. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { objectiveConformance } from '../../../conformance/index.ts'
import { prepared, rollout, scored, weightsOf } from '../common/testing.ts'
import grouped from './index.ts'

const group = 'g'
/** Scores too small for a double's precision are 0. */
const score = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => (Math.abs(value) < 1e-9 ? 0 : value))
const scores = fc.array(score, { minLength: 2, maxLength: 30 })

describe('grouped', async () => {
  objectiveConformance({ describe, it, objective: await grouped.plugin.make({}) })

  it('weighs a score against the mean of the others of its group', async () => {
    expect(weightsOf(await prepared(grouped, {}, scored([1, 0, 0, 1], { group })))).toEqual([2 / 3, -2 / 3, -2 / 3, 2 / 3].map(near))
    expect(weightsOf(await prepared(grouped, {}, scored([3, 5], { group })))).toEqual([-2, 2])
  })

  it('weighs in standard deviations of the group where that is set', async () => {
    const config = { normalise: 'std' }
    // Mean 4, deviation 2.
    expect(weightsOf(await prepared(grouped, config, scored([2, 2, 6, 6], { group })))).toEqual([-1, -1, 1, 1].map(near))
    expect(weightsOf(await prepared(grouped, config, scored([0, 3], { group })))).toEqual([-1, 1].map(near))
  })

  it('compares no rollout with another group, and gives weight 0 to equal groups and to rollouts without a group or score', async () => {
    const rollouts = [
      ...scored([0, 1], { group: 'a' }),
      ...scored([100, 100], { group: 'b' }),
      ...scored([7], { group: 'c' }),
      rollout({ score: 9 }),
      rollout({ group: 'a' }),
    ]
    const answer = await prepared(grouped, {}, rollouts)
    expect(weightsOf(answer)).toEqual([-1, 1, 0, 0, 0, 0, 0])
    expect(answer.metrics).toMatchObject({ groups: 3, constant_groups: 2, samples_without_group: 1, samples_without_score: 1 })
  })

  it.each([
    ['no group is named', scored([0, 1]), 'no sample has both a group and a score'],
    ['nothing has a score', scored([null, null], { group }), 'no sample has both a group and a score'],
    ['every group is constant', scored([0.1 + 0.2, 0.3], { group }), 'all scores of each group are equal'],
  ])('trains nothing when %s', async (_what, rollouts, reason) => {
    expect(await prepared(grouped, {}, rollouts)).toMatchObject({ kind: 'skip', reason })
  })

  it.each(['leave_one_out', 'std'])('gives a group a sum of 0, and each rollout the same weight in any order (%s)', async (normalise) => {
    const objective = await grouped.plugin.make({ normalise })
    fc.assert(
      fc.property(scores, (values) => {
        const answer = objective.prepare(scored(values, { group }), {})
        const turned = objective.prepare(scored(values.toReversed(), { group }), {})
        expect(turned.kind).toBe(answer.kind)
        if (answer.kind === 'skip' || turned.kind === 'skip') return
        const weights = answer.advantages.map(Number)
        const size = Math.max(...weights.map(Math.abs))
        expect(weights.reduce((sum, weight) => sum + weight, 0) / size).toBeCloseTo(0, 6)
        for (const [at, weight] of turned.advantages.map(Number).toReversed().entries())
          expect((weight - (weights[at] ?? 0)) / size).toBeCloseTo(0, 6)
      }),
    )
  })

  it.each(Object.entries(PLAIN))('weighs as a plain implementation does (%s)', async (normalise, plain) => {
    const objective = await grouped.plugin.make({ normalise })
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 2, maxLength: 30 }), (values) => {
        const answer = objective.prepare(scored(values, { group }), {})
        if (answer.kind === 'skip') return expect(new Set(values).size).toBe(1)
        for (const [at, weight] of answer.advantages.entries()) expect(weight).toBeCloseTo(plain(values, at), 9)
      }),
    )
  })

  it.each([
    [{ normalise: 'rank' }, 'bad_setting'],
    [{ normalise: null }, 'bad_setting'],
    [{ normalise: 'toString' }, 'bad_setting'],
    [{ normalize: 'std' }, 'unknown_setting'],
  ])('refuses settings of %j', async (config, code) => {
    await expect(async () => grouped.plugin.make(config)).rejects.toMatchObject({ kind: 'invalid', code })
  })
})

/** As their papers write them (RLOO, GRPO), term by term. */
const PLAIN = {
  leave_one_out: (given: readonly number[], at: number): number => {
    const others = given.filter((_, other) => other !== at)
    let sum = 0
    for (const one of others) sum += one
    return (given[at] ?? 0) - sum / others.length
  },
  std: (given: readonly number[], at: number): number => {
    let [sum, squares] = [0, 0]
    for (const one of given) sum += one
    for (const one of given) squares += (one - sum / given.length) ** 2
    return ((given[at] ?? 0) - sum / given.length) / Math.sqrt(squares / given.length)
  },
}

const near = (value: number): unknown => expect.closeTo(value, 12)
