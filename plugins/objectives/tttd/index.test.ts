/** The weights of the best of a group, and the pull towards the base. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { objectiveConformance } from '../../../conformance/index.ts'
import { prepared, rollout, scored, weightsOf } from '../common/testing.ts'
import tttd from './index.ts'

const group = 'g'
const alone = { kl_coef: 0 }
const near = (value: number): unknown => expect.closeTo(value, 6)

describe('tttd', async () => {
  objectiveConformance({ describe, it, objective: await tttd.plugin.make({}) })

  it.each([
    [
      [0, 0, 0, 1],
      [-0.797962508, -0.797962508, -0.797962508, 11.84872917],
    ],
    [
      [0, 1, 2, 3],
      [-0.969633079, -0.866698059, -0.338700558, 8.865417943],
    ],
    [
      [10, 20, 40],
      [-0.947153326, -0.816891651, 15.245148696],
    ],
  ])('weighs scores of %j as computed independently', async (scores, weights) => {
    expect(weightsOf(await prepared(tttd, alone, scored(scores, { group })))).toEqual(weights.map(near))
  })

  it('gives all weight to the best where ties keep the distance out of reach', async () => {
    expect(weightsOf(await prepared(tttd, alone, scored([0, 0, 1, 1], { group })))).toEqual([-1, -1, 2, 2].map(near))
    expect(weightsOf(await prepared(tttd, alone, scored([0, 1, 1, 1], { group })))).toEqual([-1, 0.5, 0.5, 0.5].map(near))
  })

  it('bounds the weight of the better of two', async () => {
    expect(weightsOf(await prepared(tttd, alone, scored([0, 1], { group })))).toEqual([-1, 199].map(near))
  })

  it('is the same for any order and scale of the scores', async () => {
    const objective = await tttd.plugin.make(alone)
    const weigh = (values: readonly number[]): readonly number[] => weightsOf(objective.prepare(scored(values, { group }), {})).map(Number)
    const scores = fc.uniqueArray(fc.integer({ min: -1000, max: 1000 }), { minLength: 3, maxLength: 20 })
    fc.assert(
      fc.property(scores, (values) => {
        const weights = weigh(values)
        for (const other of [weigh(values.toReversed()).toReversed(), weigh(values.map((value) => value * 4 + 7))])
          for (const [at, weight] of other.entries()) expect(weight).toBeCloseTo(weights[at] ?? 0, 5)
        const best = values.indexOf(Math.max(...values))
        expect(weights[best]).toBe(Math.max(...weights))
      }),
    )
  })

  it('adds to each trained token the mean distance of the batch from the base, less its own', async () => {
    const rollouts = [
      rollout({ group, score: 0, lossMask: [1, 1], logProbs: [-1, -2], baseLogProbs: [-1.5, -2] }),
      rollout({ group, score: 0, lossMask: [1, 0], logProbs: [-1, 0], baseLogProbs: [-2, -9] }),
      rollout({ group, score: 1, lossMask: [1, 1], logProbs: [-1, -1], baseLogProbs: [-1, -0.5] }),
    ]
    const plain = weightsOf(await prepared(tttd, alone, rollouts)).map(Number)
    // The differences are 0.5, 0, 1, 0 and -0.5: 0.2 on average.
    const pulls = [[-0.03, 0.02], [-0.08], [0.02, 0.07]]
    const answer = await prepared(tttd, {}, rollouts)
    expect(weightsOf(answer)).toEqual([
      pulls[0]?.map((pull) => near((plain[0] ?? 0) + pull)),
      [near((plain[1] ?? 0) + (pulls[1]?.[0] ?? 0)), 0],
      pulls[2]?.map((pull) => near((plain[2] ?? 0) + pull)),
    ])
    expect(answer.metrics).toMatchObject({ base_log_prob_difference: near(0.2) })
  })

  it('leaves constant groups out, and keeps one for the pull when there is no other', async () => {
    const base = { logProbs: [-1, -1], baseLogProbs: [-1, -3] }
    const constant = scored([5, 5], { group: 'constant', ...base })
    const telling = scored([0, 1, 2], { group, ...base })
    const mixed = await prepared(tttd, {}, [...constant, ...telling])
    expect(weightsOf(mixed).slice(0, 2)).toEqual([0, 0])
    expect(weightsOf(mixed).slice(2)).toEqual(weightsOf(await prepared(tttd, {}, telling)))
    expect(mixed.metrics).toMatchObject({ groups: 2, constant_groups: 1 })
    const flat = await prepared(tttd, {}, [...constant, ...scored([6, 6], { group, ...base })])
    expect(weightsOf(flat)).toEqual([[near(0.1), near(-0.1)], [near(0.1), near(-0.1)], 0, 0])
    expect(await prepared(tttd, alone, constant)).toMatchObject({ kind: 'skip', reason: 'all scores of each group are equal' })
  })

  it('needs the base only when it pulls towards it, and fails without it then', async () => {
    expect((await tttd.plugin.make({})).needsBase).toBe(true)
    expect((await tttd.plugin.make(alone)).needsBase).toBe(false)
    await expect(prepared(tttd, {}, scored([0, 1], { group }))).rejects.toThrow('of the base are missing')
  })

  it('accepts the numbers of the grid, and refuses other settings', async () => {
    await tttd.plugin.make({ groups_per_step: 8, rollouts_per_group: 64 })
    for (const config of [{ kl_coef: -1 }, { kl_coef: '0.1' }, { beta: 1 }])
      await expect(async () => tttd.plugin.make(config)).rejects.toMatchObject({ kind: 'invalid' })
  })
})
