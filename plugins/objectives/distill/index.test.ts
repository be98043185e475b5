/** The weight of a token by the teacher's log-probability. */
import { describe, expect, it } from 'vitest'
import { objectiveConformance } from '../../../conformance/index.ts'
import { prepared, rollout, weightsOf } from '../common/testing.ts'
import distill from './index.ts'

describe('distill', async () => {
  objectiveConformance({ describe, it, objective: await distill.plugin.make({}), scores: false })

  it('weighs each trained token by how much likelier the teacher finds it, within bounds', async () => {
    const rollouts = [
      rollout({ lossMask: [1, 0, 1], logProbs: [-1, 0, -2], teacherLogProbs: [-0.5, -7, -30] }),
      rollout({ lossMask: [1], logProbs: [-4], teacherLogProbs: [-1] }),
    ]
    const answer = await prepared(distill, { clip: 2 }, rollouts)
    expect(weightsOf(answer)).toEqual([[0.5, 0, -2], [2]])
    expect(answer.metrics).toEqual({ teacher_distance: expect.closeTo(24.5 / 3, 12), clipped_tokens: 2 })
  })

  it('fails without a teacher', async () => {
    await expect(prepared(distill, {}, [rollout()])).rejects.toThrow('of the teacher are missing')
    expect((await distill.plugin.make({})).needsTeacher).toBe(true)
  })

  it.each([{ clip: 0 }, { clip: Infinity }, { clip: 'none' }, { teacher: 'x' }])('refuses settings of %j', async (config) => {
    await expect(async () => distill.plugin.make(config)).rejects.toMatchObject({ kind: 'invalid' })
  })
})
