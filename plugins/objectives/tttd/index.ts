/** Test-time training to discover: the best of each group count for more, and no token may run far from the frozen base. */
import { define, type JsonObject, type Prepared, type Rollout } from '../../../src/contract/index.ts'
import { groupsIn, isConstant, meanOf, type Scored, largest } from '../common/scores.ts'
import { numberIn, refuseUnknown } from '../common/settings.ts'

/** How far the weights may lie from equal ones: as far as choosing one half of the group would. */
const DISTANCE = Math.LN2
const BETA_MAX = 1e6
/** Of two rollouts the better would weigh without bound, since no weight lies so far from equal: this is what it is bounded by, in groups. */
const GROUPS_MAX = 100

const KL_COEF_NORMALLY = 0.1
const KL_COEF_MAX = 100
/** The grid is the recipe's; its numbers stand beside the objective's own. */
const KNOWN = ['kl_coef', 'groups_per_step', 'rollouts_per_group']

export default define('objective', {
  make(config) {
    const klCoef = klCoefIn(config)
    return {
      name: 'tttd',
      loss: 'importance_sampling',
      needsLogProbs: true,
      isGrouped: true,
      needsBase: klCoef > 0,
      prepare: (rollouts) => prepare(rollouts, klCoef),
    }
  },
})

function klCoefIn(config: JsonObject): number {
  refuseUnknown('tttd', config, KNOWN)
  return numberIn(config, 'kl_coef', KL_COEF_NORMALLY, 0, KL_COEF_MAX)
}

/** Groups without a difference are left out, pull towards the base and all; when there is no other, one of them stays for that pull. */
function prepare(rollouts: readonly Rollout[], klCoef: number): Prepared {
  const { all, telling, metrics } = groupsIn(rollouts)
  if (all.length === 0) return { kind: 'skip', reason: 'no sample has both a group and a score', metrics }
  if (telling.length === 0 && klCoef === 0) return { kind: 'skip', reason: 'all scores of each group are equal', metrics }
  const weights = weigh(telling.length > 0 ? telling : all.slice(0, 1))
  if (klCoef === 0) return { kind: 'train', advantages: rollouts.map((_, at) => weights.get(at) ?? 0), metrics }
  const { advantages, mean } = pull(rollouts, weights, klCoef)
  return { kind: 'train', advantages, metrics: { ...metrics, base_log_prob_difference: mean } }
}

/** By place in the batch. */
function weigh(groups: readonly (readonly Scored[])[]): ReadonlyMap<number, number> {
  const weights = new Map<number, number>()
  for (const members of groups) {
    const advantages = isConstant(members) ? [] : entropicAdvantages(members.map(({ score }) => score))
    for (const [n, { at }] of members.entries()) weights.set(at, advantages[n] ?? 0)
  }
  return weights
}

/** Token by token: what has run further from the base than the mean of the batch weighs less. */
function pull(rollouts: readonly Rollout[], weights: ReadonlyMap<number, number>, klCoef: number) {
  const drifts = rollouts.map((rollout, at) => (weights.has(at) ? driftOf(rollout) : []))
  const mean = meanOf(drifts.flatMap((drift) => drift.filter((value) => value !== null)))
  const advantages = drifts.map((drift, at) => {
    const weight = weights.get(at)
    return weight === undefined ? 0 : drift.map((value) => (value === null ? 0 : weight + klCoef * (mean - value)))
  })
  return { advantages, mean }
}

/** How much likelier each trained token was than the base would have had it; null for the others. */
function driftOf({ lossMask, logProbs, baseLogProbs }: Rollout): readonly (number | null)[] {
  if (baseLogProbs?.length !== lossMask.length) throw new Error('the log-probabilities of the base are missing')
  return lossMask.map((mark, token) => (mark === 0 ? null : (logProbs[token] ?? 0) - (baseLogProbs[token] ?? 0)))
}

/**
 * What the rollouts of a group weigh when the best are to count for more, by as much as a fixed distance from treating all alike allows.
 * Each one's weight against the mean weight of the others, less 1.
 */
function entropicAdvantages(scores: readonly number[]): readonly number[] {
  const weights = weightsOf(scores, betaFor(scores))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const least = 1 / (GROUPS_MAX * scores.length)
  return weights.map((weight) => weight / Math.max((sum - weight) / (scores.length - 1), least) - 1)
}

/** The distance grows with beta, so halving finds the one that is wanted; where ties keep the distance from being reached it is the greatest. */
function betaFor(scores: readonly number[]): number {
  let [low, high] = [0, BETA_MAX]
  if (distanceOf(scores, high) <= DISTANCE) return high
  for (;;) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) return middle
    if (distanceOf(scores, middle) < DISTANCE) low = middle
    else high = middle
  }
}

/** KL(softmax(beta * scores) || uniform). */
function distanceOf(scores: readonly number[], beta: number): number {
  const weights = weightsOf(scores, beta)
  const mean = meanOf(weights)
  const terms = weights.map((weight) => (weight === 0 ? 0 : weight * Math.log(weight / mean)))
  return meanOf(terms) / mean
}

/** Against the best, so that none is above 1. */
function weightsOf(scores: readonly number[], beta: number): readonly number[] {
  const best = largest(scores)
  return scores.map((score) => Math.exp(beta * (score - best)))
}
