/** On-policy distillation: a token's weight is how much likelier the teacher finds it than the student that sampled it. */
import { define, type Rollout } from '../../../src/contract/index.ts'
import { clamp, meanOf } from '../../../src/kit/index.ts'
import { numberIn, refuseUnknown } from '../common/settings.ts'

/** In nats. A token that the teacher finds nearly impossible may not outweigh all others. */
const CLIP_NORMALLY = 5
const CLIP_MIN = 0.01
const CLIP_MAX = 100

export default define('objective', {
  make(config) {
    refuseUnknown('distill', config, ['clip'])
    const clip = numberIn(config, 'clip', CLIP_NORMALLY, CLIP_MIN, CLIP_MAX)
    return {
      name: 'distill',
      loss: 'importance_sampling',
      needsLogProbs: true,
      needsTeacher: true,
      prepare(rollouts) {
        const leads = rollouts.map(leadOf)
        const trained = leads.flatMap((lead) => lead.filter((value) => value !== null))
        if (trained.length === 0) return { kind: 'skip', reason: 'no sample has a token to learn' }
        return {
          kind: 'train',
          advantages: leads.map((lead) => lead.map((value) => clamp(value ?? 0, -clip, clip))),
          // The mean of the student's log-probability above the teacher's is the distance that training closes.
          metrics: { teacher_distance: 0 - meanOf(trained), clipped_tokens: trained.filter((lead) => Math.abs(lead) > clip).length },
        }
      },
    }
  },
})

/** Null for tokens that are not trained. */
function leadOf({ lossMask, logProbs, teacherLogProbs }: Rollout): readonly (number | null)[] {
  if (teacherLogProbs?.length !== lossMask.length) throw new Error('the log-probabilities of the teacher are missing')
  return lossMask.map((mark, token) => (mark === 0 ? null : (teacherLogProbs[token] ?? 0) - (logProbs[token] ?? 0)))
}
