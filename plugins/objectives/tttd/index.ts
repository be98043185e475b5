/** Test-time training to discover: the best of each group count for more, and no token may run far from the frozen base. */
import { define, type JsonObject, type Prepared, type Rollout } from '../../../src/contract/index.ts'
import { groupsIn, isConstant, meanOf, type Scored } from '../common/scores.ts'
import { numberIn, refuseUnknown } from '../common/settings.ts'
import { entropicAdvantages } from './entropic.ts'

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
