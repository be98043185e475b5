/** The losses of a trainer, from the log-probabilities it answered: for trainers that leave the sum out of their metrics. */
import type { Loss } from '../../contract/index.ts'

interface Weighed {
  readonly data: readonly { readonly numbers: Readonly<Record<string, readonly number[]>> }[]
  readonly loss: Loss
  readonly lossConfig: Readonly<Record<string, number>>
}

const CLIP = { clip_low_threshold: 0.8, clip_high_threshold: 1.2 }

/** Over all rows. */
export function summedLoss({ data, loss, lossConfig }: Weighed, logProbs: readonly (readonly number[])[]): number {
  const perToken = lossOf(loss, { ...CLIP, ...lossConfig })
  let sum = 0
  for (const [row, { numbers }] of data.entries()) {
    const weights = numbers[loss === 'cross_entropy' ? 'weights' : 'advantages'] ?? []
    for (const [at, logProb] of (logProbs[row] ?? []).entries()) {
      const weight = weights[at] ?? 0
      // The ratio of a token without weight may be infinite.
      if (weight !== 0) sum += perToken(logProb, numbers['logprobs']?.[at] ?? 0, weight)
    }
  }
  return sum
}

type PerToken = (logProb: number, sampled: number, weight: number) => number

const ratio = (logProb: number, sampled: number): number => Math.exp(logProb - sampled)

function lossOf(loss: Loss, { clip_low_threshold: low, clip_high_threshold: high }: typeof CLIP): PerToken {
  const clipped = (value: number): number => Math.min(Math.max(value, low), high)
  const losses: Record<Loss, PerToken> = {
    cross_entropy: (logProb, _sampled, weight) => -logProb * weight,
    importance_sampling: (logProb, sampled, weight) => -ratio(logProb, sampled) * weight,
    ppo: (logProb, sampled, weight) => -Math.min(ratio(logProb, sampled) * weight, clipped(ratio(logProb, sampled)) * weight),
  }
  return losses[loss]
}
