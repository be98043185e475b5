/** The weights of single rollouts against all scores before. */
import { describe, expect, it } from 'vitest'
import { objectiveConformance } from '../../../conformance/index.ts'
import { prepared, scored, weightsOf } from '../common/testing.ts'
import baseline from './index.ts'

describe('baseline', async () => {
  objectiveConformance({ describe, it, objective: await baseline.plugin.make({}) })

  it('compares its first batch with its own mean, which becomes the baseline', async () => {
    const answer = await prepared(baseline, {}, scored([0, 1, 2]))
    expect(weightsOf(answer)).toEqual([-1, 0, 1])
    expect(answer).toMatchObject({ state: { baseline: 1 }, metrics: { baseline: 1, mean_score: 1 } })
  })

  it('compares later batches with the running mean, which each of them moves', async () => {
    const answer = await prepared(baseline, { decay: 0.75 }, scored([3, 5]), { baseline: 2 })
    expect(weightsOf(answer)).toEqual([1, 3])
    expect(answer.state).toEqual({ baseline: 2.5 })
  })

  it('learns from one rollout at a time once it has a baseline', async () => {
    const first = await prepared(baseline, {}, scored([1]))
    expect(first).toMatchObject({ kind: 'skip', reason: 'every score equals the baseline', state: { baseline: 1 } })
    expect(weightsOf(await prepared(baseline, {}, scored([0]), first.state))).toEqual([-1])
  })

  it('ignores a state that is not its own', async () => {
    for (const state of [{}, { baseline: 'high' }, { baseline: Infinity }])
      expect(weightsOf(await prepared(baseline, {}, scored([0, 1]), state))).toEqual([-0.5, 0.5])
  })

  it('gives weight 0 to rollouts without a score, and skips when none has one', async () => {
    expect(weightsOf(await prepared(baseline, {}, scored([null, 2]), { baseline: 1 }))).toEqual([0, 1])
    expect(await prepared(baseline, {}, scored([null]))).toMatchObject({ kind: 'skip', reason: 'no sample has a score' })
  })

  it.each([{ decay: -0.1 }, { decay: 1.1 }, { decay: '0.9' }, { momentum: 0.9 }])('refuses settings of %j', async (config) => {
    await expect(async () => baseline.plugin.make(config)).rejects.toMatchObject({ kind: 'invalid' })
  })
})
