/** What people watch over the steps of a training: reward, length, entropy, and the distance from the base. */
import type { JsonObject, Rollout } from '../../contract/index.ts'
import { meanOf } from '../../kit/index.ts'

/** Estimates from the tokens that were sampled. What a batch does not tell is left out. */
export function curvesOf(rollouts: readonly Rollout[]): JsonObject {
  const scores = rollouts.flatMap(({ score }) => score ?? [])
  const trained = rollouts.flatMap(tokensOf)
  const sampled = trained.flatMap(({ logProb }) => logProb ?? [])
  const drifts = trained.flatMap(({ logProb, base }) => (logProb === undefined || base === undefined ? [] : logProb - base))
  return {
    ...(scores.length > 0 && { reward_mean: meanOf(scores) }),
    answer_tokens_mean: trained.length / rollouts.length,
    // In nats per token: of the tokens that were sampled, how unlikely they were.
    ...(sampled.length > 0 && { entropy: -meanOf(sampled) }),
    ...(drifts.length > 0 && { kl_to_base: meanOf(drifts) }),
  }
}

/** Those that are learnt from. */
const tokensOf = ({ lossMask, logProbs, baseLogProbs }: Rollout) =>
  lossMask.flatMap((mark, at) => (mark === 0 ? [] : [{ logProb: logProbs[at], base: baseLogProbs?.[at] }]))
