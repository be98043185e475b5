/** What policy gradients add to scores: each against the formula that it is the gradient of. */
import { describe, expect, it } from 'vitest'
import type { Rollout } from '../../../src/contract/index.ts'
import baseline from '../baseline/index.ts'
import grouped from '../grouped/index.ts'
import { readShaping, shaped } from './shaping.ts'
import { prepared, rollout, scored, weightsOf } from './testing.ts'

const LOGITS = [0.3, -1.2, 0.8, 0.1]
const BASE = [0.9, 0.05, 0.02, 0.03].map(Math.log)

function logSoftmax(logits: readonly number[]): readonly number[] {
  const sum = Math.log(logits.reduce((total, logit) => total + Math.exp(logit), 0))
  return logits.map((logit) => logit - sum)
}

/** The entropy of the distribution, and its KL distance from the base: what the settings weigh. */
function wished(logits: readonly number[], klCoef: number, entropyCoef: number): number {
  const logs = logSoftmax(logits)
  const [entropy, distance] = [-1, 1].map((sign) =>
    logs.reduce((sum, log, at) => sum + sign * Math.exp(log) * (sign === -1 ? log : log - (BASE[at] ?? 0)), 0),
  )
  return entropyCoef * (entropy ?? 0) - klCoef * (distance ?? 0)
}

/** The expected policy gradient over every answer of one token, each with the weight it is given. */
function expectedGradient(klCoef: number, entropyCoef: number): readonly number[] {
  const logs = logSoftmax(LOGITS)
  const rollouts = logs.map((log, at): Rollout => {
    const base = BASE[at] ?? 0
    return rollout({ tokens: [9, at], lossMask: [1], logProbs: [log], baseLogProbs: [base] })
  })
  const shaping = readShaping({ kl_coef: klCoef, entropy_coef: entropyCoef })
  const weights = weightsOf(shaped(rollouts, { kind: 'train', advantages: rollouts.map(() => 0) }, shaping)).flat()
  return LOGITS.map((_, logit) =>
    logs.reduce((sum, log, at) => sum + Math.exp(log) * (weights[at] ?? 0) * ((at === logit ? 1 : 0) - Math.exp(logs[logit] ?? 0)), 0),
  )
}

describe('the pull towards the base and the room for chance', () => {
  it.each([
    [0.3, 0],
    [0, 0.2],
    [0.15, 0.4],
  ])('have in expectation the gradient of their formulas: kl_coef %d, entropy_coef %d', (klCoef, entropyCoef) => {
    const step = 1e-6
    for (const [at, found] of expectedGradient(klCoef, entropyCoef).entries()) {
      const moved = (by: number): number =>
        wished(
          LOGITS.map((logit, n) => (n === at ? logit + by : logit)),
          klCoef,
          entropyCoef,
        )
      expect(found).toBeCloseTo((moved(step) - moved(-step)) / (2 * step), 6)
    }
  })

  it('change no masked token, and nothing where they are off', async () => {
    const rollouts = scored([0, 1], { group: 'a', lossMask: [1, 0], logProbs: [-1, 0], baseLogProbs: [-2, 0] })
    expect(weightsOf(await prepared(grouped, { kl_coef: 1, entropy_coef: 1 }, rollouts))).toEqual([
      [-1, -1],
      [1, 1],
    ])
    expect(weightsOf(await prepared(grouped, {}, rollouts))).toEqual([-1, 1])
    expect(await grouped.plugin.make({ kl_coef: 0.1 })).toMatchObject({ needsBase: true })
  })
})

describe('the clipped ratio', () => {
  it.each([
    [{ clip_low: 0.1 }, { clip_low_threshold: 0.9, clip_high_threshold: 1.1 }],
    [
      { clip_low: 0.2, clip_high: 0.28 },
      { clip_low_threshold: 0.8, clip_high_threshold: 1.28 },
    ],
    [{ clip_high: 3 }, { clip_low_threshold: 0, clip_high_threshold: 4 }],
  ])('is the loss of the trainer with these bounds: %j', async (config, lossConfig) => {
    for (const objective of [grouped, baseline])
      expect(await objective.plugin.make(config)).toMatchObject({ loss: 'ppo', lossConfig: lossConfig })
  })
})

describe('the price of length', () => {
  it('is taken from the score for each trained token beyond those that are free', async () => {
    const long = rollout({ score: 1, group: 'a', tokens: [9, 1, 2, 3, 4], lossMask: [1, 1, 0, 1], logProbs: [-1, -1, 0, -1] })
    const short = rollout({ score: 1, group: 'a', tokens: [9, 1], lossMask: [1], logProbs: [-1] })
    const [first, second] = weightsOf(await prepared(grouped, { length_penalty: 0.1, length_free: 1 }, [long, short]))
    expect([first, second]).toEqual([expect.closeTo(-0.2), expect.closeTo(0.2)])
    const answer = await prepared(baseline, { length_penalty: 0.5 }, [long], { baseline: 0 })
    expect(weightsOf(answer)).toEqual([-0.5])
  })
})

it.each([{ kl_coef: -1 }, { entropy_coef: '1' }, { clip_low: 2 }, { clip_low: 0, clip_high: 0 }, { length_penalty: -1 }, { length: 1 }])(
  'settings of %j are refused',
  async (config) => {
    for (const objective of [grouped, baseline])
      await expect(async () => objective.plugin.make(config)).rejects.toMatchObject({ kind: 'invalid' })
  },
)
