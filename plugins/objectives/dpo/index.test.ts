/** The weights of answers by preference. */
import { describe, expect, it } from 'vitest'
import { objectiveConformance } from '../../../conformance/index.ts'
import type { Rollout } from '../../../src/contract/index.ts'
import { fallsOf, prepared, ratioOf, rollout, weightsOf } from '../common/testing.ts'
import dpo from './index.ts'

/** One of two generated tokens is the answer's own, the other a tool's. */
const answer = (score: number, group: string, policy: readonly number[], base: readonly number[]): Rollout =>
  rollout({ score, group, lossMask: [1, 0, 1], tokens: [9, 1, 2, 3], logProbs: [], policyLogProbs: policy, baseLogProbs: base })

const BATCH = [
  answer(1, 'a', [-0.5, 0, -1], [-0.7, 0, -1.4]),
  answer(0, 'a', [-2, 0, -0.3], [-1.9, 0, -0.2]),
  answer(0.2, 'b', [-1, 0, -1], [-1.5, 0, -1.5]),
  answer(0.9, 'b', [-3, 0, -2], [-1, 0, -1]),
  answer(0.5, 'b', [-0.1, 0, -0.4], [-0.2, 0, -0.1]),
]

const minusLogSigmoid = (value: number): number => Math.log1p(Math.exp(-value))

/** As published: the mean over the pairs of a group of -log sigmoid(beta (ratio of the chosen - ratio of the rejected)), summed over groups. */
function published(rollouts: readonly Rollout[], beta: number, smoothing: number): number {
  const groups = [...Map.groupBy(rollouts, ({ group }) => group).values()]
  return groups.reduce((sum, members) => {
    const pairs = members.flatMap((one) =>
      members.flatMap((other) => ((one.score ?? 0) > (other.score ?? 0) ? [beta * (ratioOf(one) - ratioOf(other))] : [])),
    )
    const losses = pairs.map((margin) => (1 - smoothing) * minusLogSigmoid(margin) + smoothing * minusLogSigmoid(-margin))
    return sum + losses.reduce((total, loss) => total + loss, 0) / pairs.length
  }, 0)
}

describe('dpo', async () => {
  objectiveConformance({ describe, it, objective: await dpo.plugin.make({}) })

  it.each([
    { beta: 0.1, label_smoothing: 0 },
    { beta: 0.7, label_smoothing: 0.2 },
  ])('has the gradient of the published loss: %j', async ({ beta, label_smoothing }) => {
    const weights = weightsOf(await prepared(dpo, { beta, label_smoothing }, BATCH))
    const falls = fallsOf(BATCH, (changed) => published(changed, beta, label_smoothing))
    for (const [row, { lossMask }] of BATCH.entries())
      for (const [token, mark] of lossMask.entries()) expect(falls[row]?.[token] ?? 0).toBeCloseTo(mark === 0 ? 0 : Number(weights[row]), 6)
  })

  it('makes one pair of two answers to one prompt with different scores, and says how they stand', async () => {
    const answered = await prepared(dpo, {}, BATCH.slice(0, 2))
    expect(answered).toMatchObject({ kind: 'train', metrics: { pairs: 1, preferred_share: 1, preference_margin: expect.closeTo(0.08) } })
  })

  it('makes no pair of equal scores, or of answers to two prompts', async () => {
    const [one, other] = [answer(1, 'a', [-1, 0, -1], [-1, 0, -1]), answer(0, 'a', [-1, 0, -1], [-1, 0, -1])]
    const reason = 'no two answers to one prompt have different scores'
    expect(await prepared(dpo, {}, [one, { ...other, score: 1 }])).toMatchObject({ kind: 'skip', reason })
    expect(await prepared(dpo, {}, [one, { ...other, tokens: [8, 1, 2, 3] }])).toMatchObject({
      kind: 'skip',
      reason,
      metrics: { pairs: 0 },
    })
  })

  it('asks for the base and for the weights before the step, and fails without them', async () => {
    expect(await dpo.plugin.make({})).toMatchObject({ needsBase: true, needsPolicy: true, needsLogProbs: false, loss: 'cross_entropy' })
    const blind = BATCH.map((one) => ({ ...one, policyLogProbs: [] }))
    await expect(prepared(dpo, {}, blind)).rejects.toThrow('are missing')
  })

  it.each([{ beta: 0 }, { beta: '1' }, { label_smoothing: 0.5 }, { loss: 'ipo' }])('refuses settings of %j', async (config) => {
    await expect(async () => dpo.plugin.make(config)).rejects.toMatchObject({ kind: 'invalid' })
  })
})
