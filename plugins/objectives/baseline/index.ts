/** Policy gradient of single rollouts: a rollout's weight is its score above the running mean of all scores before. */
import { define, type JsonObject, type Prepared, type Rollout } from '../../../src/contract/index.ts'
import { meanOf } from '../../../src/kit/index.ts'
import { priced, readShaping, shaped, SHAPING } from '../common/shaping.ts'
import { scoredIn } from '../common/scores.ts'
import { numberIn, refuseUnknown } from '../common/settings.ts'

const DECAY_NORMALLY = 0.9

export default define('objective', {
  make(config) {
    refuseUnknown('baseline', config, ['decay', ...SHAPING])
    const decay = numberIn(config, 'decay', DECAY_NORMALLY, 0, 1)
    const shaping = readShaping(config)
    return {
      name: 'baseline',
      loss: shaping.loss,
      ...(shaping.lossConfig !== undefined && { lossConfig: shaping.lossConfig }),
      needsLogProbs: true,
      needsBase: shaping.klCoef > 0,
      prepare: (rollouts, state) => shaped(rollouts, prepare(priced(rollouts, shaping), state, decay), shaping),
    }
  },
})

/** The first batch is compared with its own mean, so a single first rollout only sets the baseline. */
function prepare(rollouts: readonly Rollout[], before: JsonObject, decay: number): Prepared {
  const scored = scoredIn(rollouts)
  const mean = meanOf(scored.map(({ score }) => score))
  const metrics = { samples_without_score: rollouts.length - scored.length, mean_score: mean }
  if (scored.length === 0) return { kind: 'skip', reason: 'no sample has a score', metrics }
  const known = baselineIn(before)
  const baseline = known ?? mean
  const state = { baseline: known === null ? mean : decay * known + (1 - decay) * mean }
  const advantages = rollouts.map(() => 0)
  for (const { at, score } of scored) advantages[at] = score - baseline
  const outcome = { state, metrics: { ...metrics, baseline } }
  if (advantages.every((advantage) => advantage === 0)) return { kind: 'skip', reason: 'every score equals the baseline', ...outcome }
  return { kind: 'train', advantages, ...outcome }
}

const baselineIn = ({ baseline }: JsonObject): number | null =>
  typeof baseline === 'number' && Number.isFinite(baseline) ? baseline : null
