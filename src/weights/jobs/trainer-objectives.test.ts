/** What a step gives its objective, and what it takes from it. */
import { describe, expect, it } from 'vitest'
import type { Objective } from '../../contract/index.ts'
import { benches, byScore, ONE, orderOf, sampleOf, weightsOf } from './testing/steps.ts'
import { SILENT } from './testing.ts'
import { makeWeightTrainer } from './trainer.ts'

const on = benches()

describe('an objective', () => {
  it('that is a loss of its own gets what the weights before the step and the base say, and the distance is reported', async () => {
    const seen: { readonly policy: unknown; readonly base: unknown }[] = []
    const objective: Objective = {
      ...byScore,
      loss: 'cross_entropy',
      needsPolicy: true,
      prepare: (rollouts, state) => {
        seen.push(...rollouts.map(({ policyLogProbs: policy, baseLogProbs: base }) => ({ policy, base })))
        return byScore.prepare(rollouts, state)
      },
    }
    const first = await on.at.step({ objective, measuresKl: true })
    await on.at.step({ objective, measuresKl: true }, on.at.after(first, [sampleOf('b', 2)], 'life:0'))
    const [untrained, trained] = seen
    expect(untrained?.policy).toEqual(untrained?.base)
    expect(trained?.base).toEqual(untrained?.base)
    expect(trained?.policy).not.toEqual(trained?.base)
    expect(on.at.trainer.calls.filter(({ name }) => name === 'load_weights')).toHaveLength(2)
    expect(first.metrics).toMatchObject({ kl_to_base: expect.any(Number), entropy: 0.375 })
  })

  it('that needs the base and a teacher gets their log-probabilities of the generated tokens, asked for once', async () => {
    let seen: unknown
    const objective: Objective = {
      ...byScore,
      needsBase: true,
      needsTeacher: true,
      prepare: (rollouts, state) => {
        seen = rollouts.map(({ baseLogProbs, teacherLogProbs }) => [baseLogProbs, teacherLogProbs])
        return byScore.prepare(rollouts, state)
      },
    }
    const opened = makeWeightTrainer(on.at.optionsOf({ objective, teacher: 'large' }))
    const models = () => on.at.trainer.calls.filter(({ name }) => name === 'create_model').map(({ body }) => body['base_model'])
    await opened.step(orderOf(ONE), SILENT, new AbortController().signal)
    const logProbs = [-1 / 8, -1 / 9]
    expect(seen).toEqual([[logProbs, logProbs]])
    expect(models()).toEqual(['tiny', 'large', 'tiny'])
    await opened.step(orderOf(ONE), SILENT, new AbortController().signal)
    expect(models()).toHaveLength(3)
    expect(on.at.trainer.models.size).toBe(0)
  })

  it.each<readonly [string, readonly (number | readonly number[])[], string]>([
    ['too few weights', [], 'for every rollout'],
    ['a list that is too short', [[1]], 'for every generated token'],
    ['a weight that is not finite', [Number.NaN], 'finite weights'],
  ])('that gives %s fails the step without a call', async (_what, advantages, words) => {
    const objective: Objective = { ...byScore, prepare: () => ({ kind: 'train', advantages }) }
    await expect(on.at.step({ objective })).rejects.toThrow(words)
    expect(on.at.trainer.calls).toEqual([])
  })

  it('that takes exchanges that were not sampled here has them encoded by the engine', async () => {
    const objective: Objective = { ...byScore, loss: 'cross_entropy', needsLogProbs: false, encodes: true }
    const weights = weightsOf({ encode: async () => ({ prompt: [1, 2], answer: [3, 4] }) })
    const exchange = {
      messages: [{ role: 'user', content: 'hi' }],
      response: { choices: [{ message: { role: 'assistant', content: 'ho' } }] },
    }
    expect(await on.at.step({ objective, weights }, orderOf([{ ...sampleOf('a', 1), exchanges: [exchange] }]))).toMatchObject({
      kind: 'publish',
      metrics: { tokens_trained: 2 },
    })
  })
})

it('a reference that fails is unloaded', async () => {
  on.at.trainer.faults = (call) => (call === 'forward' ? { status: 400 } : undefined)
  await expect(on.at.step({ objective: { ...byScore, needsBase: true } })).rejects.toMatchObject({ code: 'trainer_refused' })
  expect(on.at.trainer.models.size).toBe(0)
})
