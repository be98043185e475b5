/** The weights of single answers that are wanted or not. */
import { describe, expect, it } from 'vitest'
import { objectiveConformance } from '../../../conformance/index.ts'
import type { Rollout } from '../../../src/contract/index.ts'
import { fallsOf, prepared, ratioOf, rollout, weightsOf } from '../common/testing.ts'
import kto from './index.ts'

const answer = (score: number | null, policy: readonly number[], base: readonly number[]): Rollout =>
  rollout({ score, lossMask: [1, 0, 1], tokens: [9, 1, 2, 3], logProbs: [], policyLogProbs: policy, baseLogProbs: base })

const BATCH = [
  answer(1, [-0.5, 0, -1], [-0.7, 0, -1.4]),
  answer(0, [-2, 0, -0.3], [-1.9, 0, -0.2]),
  answer(0.6, [-1, 0, -1], [-2.5, 0, -1.5]),
  answer(0.5, [-3, 0, -2], [-3.4, 0, -2.1]),
]

/** As published: weight - weight sigmoid(beta (ratio - reference)) of wanted ones, with the sign turned of others; the reference has no gradient. */
function published(rollouts: readonly Rollout[], beta: number, weights: readonly [number, number], reference: number): number {
  return rollouts.reduce((sum, one) => {
    const isWanted = (one.score ?? 0) > 0.5
    const weight = isWanted ? weights[0] : weights[1]
    return sum + weight - weight / (1 + Math.exp((isWanted ? -1 : 1) * beta * (ratioOf(one) - reference)))
  }, 0)
}

describe('kto', async () => {
  objectiveConformance({ describe, it, objective: await kto.plugin.make({}) })

  it.each([
    [0.1, 1, 1],
    [0.8, 1.3, 0.4],
  ])('has the gradient of the published loss: beta %d, weights %d and %d', async (beta, wanted, unwanted) => {
    const weights = weightsOf(await prepared(kto, { beta, desirable_weight: wanted, undesirable_weight: unwanted }, BATCH))
    const reference = Math.max(0, BATCH.reduce((sum, one) => sum + ratioOf(one), 0) / BATCH.length)
    expect(reference).toBeGreaterThan(0)
    const falls = fallsOf(BATCH, (changed) => published(changed, beta, [wanted, unwanted], reference))
    for (const [row, { lossMask }] of BATCH.entries())
      for (const [token, mark] of lossMask.entries()) expect(falls[row]?.[token] ?? 0).toBeCloseTo(mark === 0 ? 0 : Number(weights[row]), 6)
  })

  it('takes an answer above the threshold as wanted, and counts both kinds', async () => {
    expect(await prepared(kto, {}, BATCH)).toMatchObject({ metrics: { wanted_answers: 2, unwanted_answers: 2 } })
    expect(await prepared(kto, { threshold: -1 }, BATCH)).toMatchObject({ metrics: { wanted_answers: 4, unwanted_answers: 0 } })
  })

  it('ignores answers without a score, and skips when none has one', async () => {
    expect(weightsOf(await prepared(kto, {}, [answer(null, [-1, 0, -1], [-1, 0, -1]), ...BATCH]))[0]).toBe(0)
    expect(await prepared(kto, {}, [answer(null, [-1, 0, -1], [-1, 0, -1])])).toMatchObject({ kind: 'skip' })
    const nothing = { desirable_weight: 0, undesirable_weight: 0 }
    expect(await prepared(kto, nothing, BATCH)).toMatchObject({ kind: 'skip', reason: 'every answer weighs nothing' })
  })

  it.each([{ beta: 0 }, { threshold: 'high' }, { desirable_weight: -1 }, { lambda: 1 }])('refuses settings of %j', async (config) => {
    await expect(async () => kto.plugin.make(config)).rejects.toMatchObject({ kind: 'invalid' })
  })
})
