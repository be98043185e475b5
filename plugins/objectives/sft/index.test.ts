/** Imitation weighs everything alike. */
import { describe, expect, it } from 'vitest'
import { objectiveConformance } from '../../../conformance/index.ts'
import { prepared, rollout, scored, weightsOf } from '../common/testing.ts'
import sft from './index.ts'

describe('sft', async () => {
  const objective = await sft.plugin.make({})
  objectiveConformance({ describe, it, objective, scores: false })

  it('learns all answers alike, scored or not, sampled here or not', async () => {
    expect(objective).toMatchObject({ loss: 'cross_entropy', needsLogProbs: false, encodes: true })
    expect(weightsOf(await prepared(sft, {}, [...scored([0, null]), rollout({ logProbs: [] })]))).toEqual([1, 1, 1])
  })

  it('trains nothing where no token is to be learnt', async () => {
    expect(await prepared(sft, {}, [rollout({ lossMask: [0, 0] })])).toMatchObject({ kind: 'skip' })
  })

  it('refuses any setting', async () => {
    await expect(async () => sft.plugin.make({ epochs: 2 })).rejects.toMatchObject({ code: 'unknown_setting' })
  })
})
