/** The smallest objective: rollouts above the mean score of their batch become likelier, those below less likely. */
import { define } from '../../src/contract/index.ts'

export default define('objective', {
  name: 'better-half',
  loss: 'importance_sampling',
  needsLogProbs: true,
  prepare(rollouts) {
    const scores = rollouts.map(({ score }) => score ?? 0)
    // Divided before summing, since the sum of large scores may overflow.
    const mean = scores.reduce((sum, score) => sum + score / scores.length, 0)
    const advantages = scores.map((score) => Math.sign(score - mean))
    if (advantages.every((advantage) => advantage === 0)) return { kind: 'skip', reason: 'all scores are equal' }
    return { kind: 'train', advantages, metrics: { mean_score: mean } }
  },
})
