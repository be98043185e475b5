/** What a policy gradient may be given beside its scores: a pull towards the base, room for chance, a clipped ratio, a price for length. */
import { invalid, type JsonObject, type Objective, type Prepared, type Rollout } from '../../../src/contract/index.ts'
import { meanOf } from '../../../src/kit/index.ts'
import { driftOf } from './drift.ts'
import { numberIn } from './settings.ts'

export const SHAPING = ['kl_coef', 'entropy_coef', 'clip_low', 'clip_high', 'length_penalty', 'length_free'] as const

const COEF_MAX = 100
const TOKENS_MAX = 1e9
const CLIP_NORMALLY = 0.2

export type Shaping = ReturnType<typeof readShaping>

export function readShaping(config: JsonObject) {
  return {
    klCoef: numberIn(config, 'kl_coef', 0, 0, COEF_MAX),
    entropyCoef: numberIn(config, 'entropy_coef', 0, 0, COEF_MAX),
    lengthPenalty: numberIn(config, 'length_penalty', 0, 0, COEF_MAX),
    lengthFree: numberIn(config, 'length_free', 0, 0, TOKENS_MAX),
    ...lossIn(config),
  }
}

/** The ratio is clipped where either bound is set; the other is as far from 1. */
function lossIn(config: JsonObject): Pick<Objective, 'loss' | 'lossConfig'> {
  const { clip_low, clip_high } = config
  if (clip_low === undefined && clip_high === undefined) return { loss: 'importance_sampling' }
  const low = numberIn(config, 'clip_low', typeof clip_high === 'number' ? Math.min(clip_high, 1) : CLIP_NORMALLY, 0, 1)
  const high = numberIn(config, 'clip_high', low, 0, COEF_MAX)
  if (low === 0 && high === 0) throw invalid('bad_setting', 'training.objective_config.clip_low and clip_high must not both be 0')
  return { loss: 'ppo', lossConfig: { clip_low_threshold: 1 - low, clip_high_threshold: 1 + high } }
}

/** The score of a long answer is lowered by `length_penalty` for each trained token beyond `length_free`. */
export function priced(rollouts: readonly Rollout[], { lengthPenalty, lengthFree }: Shaping): readonly Rollout[] {
  if (lengthPenalty === 0) return rollouts
  return rollouts.map((rollout) => {
    const tokens = rollout.lossMask.filter((mark) => mark === 1).length
    return rollout.score === null ? rollout : { ...rollout, score: rollout.score - lengthPenalty * Math.max(0, tokens - lengthFree) }
  })
}

/**
 * Adds to the weight of every trained token what the distance from the base and the entropy have as gradients: of the distance, how much
 * likelier it was than with the base; of the entropy, how unlikely it was. Each is compared with the mean of the batch, which changes no
 * expectation and calms the gradient.
 */
export function shaped(rollouts: readonly Rollout[], prepared: Prepared, { klCoef, entropyCoef }: Shaping): Prepared {
  if (prepared.kind === 'skip' || (klCoef === 0 && entropyCoef === 0)) return prepared
  const drifts = klCoef === 0 ? null : rollouts.map(driftOf)
  const surprises = rollouts.map(({ lossMask, logProbs }) => lossMask.map((mark, token) => (mark === 0 ? null : -(logProbs[token] ?? 0))))
  const [meanDrift, meanSurprise] = [meanIn(drifts ?? []), meanIn(surprises)]
  const advantages = rollouts.map(({ lossMask }, at) =>
    lossMask.map((_, token) => {
      const given = prepared.advantages[at] ?? 0
      const weight = typeof given === 'number' ? given : (given[token] ?? 0)
      const pull = klCoef * (meanDrift - (drifts?.[at]?.[token] ?? meanDrift))
      return weight + pull + entropyCoef * ((surprises[at]?.[token] ?? meanSurprise) - meanSurprise)
    }),
  )
  return { ...prepared, advantages }
}

const meanIn = (values: readonly (readonly (number | null)[])[]): number =>
  meanOf(values.flatMap((of) => of.filter((value) => value !== null)))
