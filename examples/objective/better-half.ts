/** The smallest objective: what scored above the mean of its batch is made likelier, what scored below it less likely. */
import { define } from '../../src/contract/index.ts'

export default define('objective', {
  name: 'better-half',
  loss: 'importance_sampling',
  needsLogProbs: true,
  prepare(rollouts) {
    const scores = rollouts.map(({ score }) => score ?? 0)
    // Divided before it is added up: the sum of large scores may be larger than any number.
    const mean = scores.reduce((sum, score) => sum + score / scores.length, 0)
    const advantages = scores.map((score) => Math.sign(score - mean))
    if (advantages.every((advantage) => advantage === 0)) return { kind: 'skip', reason: 'all scores are equal' }
    return { kind: 'train', advantages, metrics: { mean_score: mean } }
  },
})
