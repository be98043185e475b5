/** Grouped policy gradient: a rollout's weight is its score above the others of its group. */
import { define, invalid, type JsonObject, type Prepared, type Rollout } from '../../../src/contract/index.ts'
import { meanOf } from '../../../src/kit/index.ts'
import { priced, readShaping, shaped, SHAPING } from '../common/shaping.ts'
import { groupsIn, largest, smallest } from '../common/scores.ts'
import { refuseUnknown } from '../common/settings.ts'

type Weigh = (scores: readonly number[]) => readonly number[]

const WAYS: Readonly<Record<string, Weigh>> = { leave_one_out: overOthers, std: inDeviations }
const NORMALLY = 'leave_one_out'

export default define('objective', {
  make(config) {
    const weigh = weighIn(config)
    const shaping = readShaping(config)
    return {
      name: 'grouped',
      loss: shaping.loss,
      ...(shaping.lossConfig !== undefined && { lossConfig: shaping.lossConfig }),
      needsLogProbs: true,
      isGrouped: true,
      needsBase: shaping.klCoef > 0,
      prepare: (rollouts) => shaped(rollouts, prepare(priced(rollouts, shaping), weigh), shaping),
    }
  },
})

function weighIn(config: JsonObject): Weigh {
  refuseUnknown('grouped', config, ['normalise', ...SHAPING])
  const { normalise = NORMALLY } = config
  const weigh = typeof normalise === 'string' && Object.hasOwn(WAYS, normalise) ? WAYS[normalise] : undefined
  if (weigh === undefined)
    throw invalid('bad_setting', `training.objective_config.normalise must be one of ${Object.keys(WAYS).join(', ')}`)
  return weigh
}

/** The weight is 0 without a group, without a score, or in a group of equal scores. */
function prepare(rollouts: readonly Rollout[], weigh: Weigh): Prepared {
  const { all, telling, metrics } = groupsIn(rollouts)
  if (all.length === 0) return { kind: 'skip', reason: 'no sample has both a group and a score', metrics }
  if (telling.length === 0) return { kind: 'skip', reason: 'all scores of each group are equal', metrics }
  const advantages = rollouts.map(() => 0)
  for (const members of telling) {
    const weights = weigh(members.map(({ score }) => score))
    for (const [n, { at }] of members.entries()) advantages[at] = weights[n] ?? 0
  }
  return { kind: 'train', advantages, metrics }
}

/** The score above the mean of the others: unbiased, and 0 in sum over the group. */
function overOthers(scores: readonly number[]): readonly number[] {
  const sum = scores.reduce((total, score) => total + score, 0)
  return scores.map((score) => score - (sum - score) / (scores.length - 1))
}

/** The score above the group's mean, in standard deviations; computed between 0 and 1, where squares cannot overflow. */
function inDeviations(scores: readonly number[]): readonly number[] {
  const lowest = smallest(scores)
  const range = largest(scores) - lowest
  const shares = scores.map((score) => (score - lowest) / range)
  const mean = meanOf(shares)
  const deviation = Math.sqrt(meanOf(shares.map((share) => (share - mean) ** 2)))
  return shares.map((share) => (share - mean) / deviation)
}
