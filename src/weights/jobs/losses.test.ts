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
