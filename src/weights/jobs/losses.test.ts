import { expect, it } from 'vitest'
import { summedLoss } from './losses.ts'

const datum = { inputs: [1, 2], targets: [2, 3], numbers: { weights: [2, 0], logprobs: [-1, -Infinity], advantages: [2, 0] } }
const lossOf = (loss: 'cross_entropy' | 'importance_sampling' | 'ppo', logProb: number, lossConfig = {}) =>
  summedLoss({ data: [datum], loss, lossConfig }, [[logProb, 0]])

it('the loss of a pass follows from its log-probabilities, and tokens without weight count nothing', () => {
  expect(lossOf('cross_entropy', -0.5)).toBe(1)
  expect(lossOf('importance_sampling', -0.5)).toBeCloseTo(-2 * Math.exp(0.5), 12)
  expect(lossOf('ppo', -0.5)).toBeCloseTo(-2 * 1.2, 12)
  expect(lossOf('ppo', -0.5, { clip_high_threshold: 1.5 })).toBeCloseTo(-2 * 1.5, 12)
  expect(lossOf('ppo', -1.5)).toBeCloseTo(-2 * Math.exp(-0.5), 12)
})

/** The slopes of the published formulas: by the ratio of the probability now and when it was sampled, and the weight. */
const SLOPES = {
  cross_entropy: (_ratio: number, weight: number) => -weight,
  importance_sampling: (ratio: number, weight: number) => -ratio * weight,
  // A clipped ratio has no slope where a further change would be rewarded.
  ppo: (ratio: number, weight: number) => ((weight > 0 && ratio > 1.2) || (weight < 0 && ratio < 0.8) ? 0 : -ratio * weight),
} as const

it.each(['cross_entropy', 'importance_sampling', 'ppo'] as const)(
  '%s has the gradient of the published formula, by differences',
  (loss) => {
    const step = 1e-6
    for (const weight of [-1.5, 0, 2])
      for (const logProb of [-3, -1.3, -1, -0.7, -0.1]) {
        const row = { numbers: { weights: [weight], logprobs: [-1], advantages: [weight] } }
        const at = (by: number): number => summedLoss({ data: [row], loss, lossConfig: {} }, [[logProb + by]])
        expect((at(step) - at(-step)) / (2 * step)).toBeCloseTo(SLOPES[loss](Math.exp(logProb + 1), weight), 6)
      }
  },
)
