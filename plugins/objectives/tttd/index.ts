/** Test-time training to discover: the best of each group count for more, and tokens are pulled towards the frozen base. */
import { define, type Prepared, type Rollout } from '../../../src/contract/index.ts'
import { meanOf } from '../../../src/kit/index.ts'
import { driftOf } from '../common/drift.ts'
import { groupsIn, isConstant, type Scored, largest } from '../common/scores.ts'
import { numberIn, refuseUnknown } from '../common/settings.ts'

/** The KL distance of the weights from equal ones: that of choosing one half of the group. */
const DISTANCE = Math.LN2
const BETA_MAX = 1e6
/** The bound on the weight of the better of two rollouts, in groups; two rollouts cannot reach the distance. */
const GROUPS_MAX = 100

const KL_COEF_NORMALLY = 0.1
const KL_COEF_MAX = 100
/** The numbers of the grid belong to the recipe. */
const KNOWN = ['kl_coef', 'groups_per_step', 'rollouts_per_group']

export default define('objective', {
  make(config) {
    refuseUnknown('tttd', config, KNOWN)
    const klCoef = numberIn(config, 'kl_coef', KL_COEF_NORMALLY, 0, KL_COEF_MAX)
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

/** Equal groups are left out; when there is no other, one of them stays for the pull towards the base. */
function prepare(rollouts: readonly Rollout[], klCoef: number): Prepared {
  const { all, telling, metrics } = groupsIn(rollouts)
  if (all.length === 0) return { kind: 'skip', reason: 'no sample has both a group and a score', metrics }
  if (telling.length === 0 && klCoef === 0) return { kind: 'skip', reason: 'all scores of each group are equal', metrics }
  const weights = weigh(telling.length > 0 ? telling : all.slice(0, 1))
  if (klCoef === 0) return { kind: 'train', advantages: rollouts.map((_, at) => weights.get(at) ?? 0), metrics }
  const { advantages, mean } = pull(rollouts, weights, klCoef)
  return { kind: 'train', advantages, metrics: { ...metrics, base_log_prob_difference: mean } }
}

function weigh(groups: readonly (readonly Scored[])[]): ReadonlyMap<number, number> {
  const weights = new Map<number, number>()
  for (const members of groups) {
    const advantages = isConstant(members) ? [] : entropicAdvantages(members.map(({ score }) => score))
    for (const [n, { at }] of members.entries()) weights.set(at, advantages[n] ?? 0)
  }
  return weights
}

/** Per token: the further it is from the base, compared with the mean of the batch, the less it weighs. */
function pull(rollouts: readonly Rollout[], weights: ReadonlyMap<number, number>, klCoef: number) {
  const drifts = rollouts.map((rollout, at) => (weights.has(at) ? driftOf(rollout) : []))
  const mean = meanOf(drifts.flatMap((drift) => drift.filter((value) => value !== null)))
  const advantages = drifts.map((drift, at) => {
    const weight = weights.get(at)
    return weight === undefined ? 0 : drift.map((value) => (value === null ? 0 : weight + klCoef * (mean - value)))
  })
  return { advantages, mean }
}

/** Each weight over the mean weight of the others, less 1; the weights lie at a fixed distance from equal ones. */
function entropicAdvantages(scores: readonly number[]): readonly number[] {
  const weights = weightsOf(scores, betaFor(scores))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const least = 1 / (GROUPS_MAX * scores.length)
  return weights.map((weight) => weight / Math.max((sum - weight) / (scores.length - 1), least) - 1)
}

/** By bisection, since the distance grows with beta; the greatest beta where ties keep the distance out of reach. */
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

/** Relative to the best, so that none is above 1. */
function weightsOf(scores: readonly number[], beta: number): readonly number[] {
  const best = largest(scores)
  return scores.map((score) => Math.exp(beta * (score - best)))
}
