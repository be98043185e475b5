/** Kahneman-Tversky optimization: single answers are wanted or unwanted by their score, compared with the base and with the batch. */
import { define, type Prepared, type Rollout } from '../../../src/contract/index.ts'
import { meanOf } from '../../../src/kit/index.ts'
import { policyRatio, sigmoid } from '../common/drift.ts'
import { scoredIn } from '../common/scores.ts'
import { numberIn, refuseUnknown } from '../common/settings.ts'

const BETA_NORMALLY = 0.1
const BETA_MIN = 1e-4
const BETA_MAX = 100
const THRESHOLD_NORMALLY = 0.5
const THRESHOLD_MAX = 1e15
const WEIGHT_MAX = 100

interface Settings {
  readonly beta: number
  readonly threshold: number
  readonly wanted: number
  readonly unwanted: number
}

export default define('objective', {
  make(config) {
    refuseUnknown('kto', config, ['beta', 'threshold', 'desirable_weight', 'undesirable_weight'])
    const settings = {
      beta: numberIn(config, 'beta', BETA_NORMALLY, BETA_MIN, BETA_MAX),
      threshold: numberIn(config, 'threshold', THRESHOLD_NORMALLY, -THRESHOLD_MAX, THRESHOLD_MAX),
      wanted: numberIn(config, 'desirable_weight', 1, 0, WEIGHT_MAX),
      unwanted: numberIn(config, 'undesirable_weight', 1, 0, WEIGHT_MAX),
    }
    return {
      name: 'kto',
      // Its weights are the slopes of the loss, so that the plain loss has the gradient of the other.
      loss: 'cross_entropy',
      needsLogProbs: false,
      needsBase: true,
      needsPolicy: true,
      encodes: true,
      prepare: (rollouts) => prepare(rollouts, settings),
    }
  },
})

function prepare(rollouts: readonly Rollout[], { beta, threshold, wanted, unwanted }: Settings): Prepared {
  const scored = scoredIn(rollouts)
  const metrics = { samples_without_score: rollouts.length - scored.length, mean_score: meanOf(scored.map(({ score }) => score)) }
  if (scored.length === 0) return { kind: 'skip', reason: 'no sample has a score', metrics }
  const ratios = rollouts.map(policyRatio)
  /** The distance of the batch from the base, which no gradient goes through. */
  const reference = Math.max(0, meanOf(scored.map(({ at }) => ratios[at] ?? 0)))
  const advantages = rollouts.map(() => 0)
  for (const { at, score } of scored) {
    const value = sigmoid(beta * ((ratios[at] ?? 0) - reference))
    // The slope is the same on both sides, since sigmoid(-x) is 1 - sigmoid(x).
    advantages[at] = (score > threshold ? wanted : -unwanted) * beta * value * (1 - value)
  }
  const good = scored.filter(({ score }) => score > threshold).length
  const counted = { ...metrics, wanted_answers: good, unwanted_answers: scored.length - good, reference_distance: reference }
  if (advantages.every((advantage) => advantage === 0)) return { kind: 'skip', reason: 'every answer weighs nothing', metrics: counted }
  return { kind: 'train', advantages, metrics: counted }
}
