/** Direct preference optimization: of two answers to one prompt the one with the higher score becomes likelier, compared with the base. */
import { define, type Prepared, type Rollout } from '../../../src/contract/index.ts'
import { meanOf } from '../../../src/kit/index.ts'
import { policyRatio, sigmoid } from '../common/drift.ts'
import { groupsIn, isConstant, type Scored } from '../common/scores.ts'
import { numberIn, refuseUnknown } from '../common/settings.ts'

const BETA_NORMALLY = 0.1
const BETA_MIN = 1e-4
const BETA_MAX = 100
/** At one half both answers would be preferred alike. */
const SMOOTHING_MAX = 0.49

interface Pair {
  readonly chosen: number
  readonly rejected: number
}

export default define('objective', {
  make(config) {
    refuseUnknown('dpo', config, ['beta', 'label_smoothing'])
    const beta = numberIn(config, 'beta', BETA_NORMALLY, BETA_MIN, BETA_MAX)
    const smoothing = numberIn(config, 'label_smoothing', 0, 0, SMOOTHING_MAX)
    return {
      name: 'dpo',
      // Its weights are the slopes of the loss, so that the plain loss has the gradient of the other.
      loss: 'cross_entropy',
      needsLogProbs: false,
      isGrouped: true,
      needsBase: true,
      needsPolicy: true,
      encodes: true,
      prepare: (rollouts) => prepare(rollouts, beta, smoothing),
    }
  },
})

/** A group counts as one, however many pairs it has. */
function prepare(rollouts: readonly Rollout[], beta: number, smoothing: number): Prepared {
  const { all, telling, metrics } = groupsIn(rollouts)
  const grouped = telling.map((members) => pairsIn(rollouts, members))
  const pairs = grouped.flat()
  const counted = { ...metrics, pairs: pairs.length }
  if (all.length === 0) return { kind: 'skip', reason: 'no sample has both a group and a score', metrics: counted }
  if (pairs.length === 0) return { kind: 'skip', reason: 'no two answers to one prompt have different scores', metrics: counted }
  const ratios = rollouts.map(policyRatio)
  const marginOf = ({ chosen, rejected }: Pair): number => beta * ((ratios[chosen] ?? 0) - (ratios[rejected] ?? 0))
  const advantages = rollouts.map(() => 0)
  for (const own of grouped)
    for (const pair of own) {
      const margin = marginOf(pair)
      const slope = (beta * ((1 - smoothing) * sigmoid(-margin) - smoothing * sigmoid(margin))) / own.length
      advantages[pair.chosen] = (advantages[pair.chosen] ?? 0) + slope
      advantages[pair.rejected] = (advantages[pair.rejected] ?? 0) - slope
    }
  const margins = pairs.map(marginOf)
  const preferred = margins.filter((margin) => margin > 0).length / margins.length
  return { kind: 'train', advantages, metrics: { ...counted, preference_margin: meanOf(margins), preferred_share: preferred } }
}

/** Every two of a group with different scores and the same prompt. */
function pairsIn(rollouts: readonly Rollout[], members: readonly Scored[]): readonly Pair[] {
  return members.flatMap((one) =>
    members.flatMap((other) => {
      const isPair = one.score > other.score && !isConstant([one, other]) && promptOf(rollouts[one.at]) === promptOf(rollouts[other.at])
      return isPair ? [{ chosen: one.at, rejected: other.at }] : []
    }),
  )
}

const promptOf = (rollout: Rollout | undefined): string =>
  rollout === undefined ? '' : rollout.tokens.slice(0, rollout.tokens.length - rollout.lossMask.length).join(' ')
