/** How far tokens have moved from the frozen base, by log-probabilities. */
import type { Rollout } from '../../../src/contract/index.ts'

/** How much likelier each trained token was than with the base; null for the others. */
export function driftOf({ lossMask, logProbs, baseLogProbs }: Rollout): readonly (number | null)[] {
  if (baseLogProbs?.length !== lossMask.length) throw new Error('the log-probabilities of the base are missing')
  return lossMask.map((mark, token) => (mark === 0 ? null : (logProbs[token] ?? 0) - (baseLogProbs[token] ?? 0)))
}

/** How much likelier the whole answer is with the weights that are trained further than with the base: the logarithm of the ratio. */
export function policyRatio({ lossMask, policyLogProbs, baseLogProbs }: Rollout): number {
  if (policyLogProbs?.length !== lossMask.length || baseLogProbs?.length !== lossMask.length)
    throw new Error('the log-probabilities of the weights or of the base are missing')
  return lossMask.reduce<number>((sum, mark, token) => sum + mark * ((policyLogProbs[token] ?? 0) - (baseLogProbs[token] ?? 0)), 0)
}

/** The logistic function, without overflow. */
export const sigmoid = (value: number): number => (value >= 0 ? 1 / (1 + Math.exp(-value)) : Math.exp(value) / (1 + Math.exp(value)))
