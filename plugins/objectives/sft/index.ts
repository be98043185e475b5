/** Imitation: every token of the given answers counts the same. */
import { define } from '../../../src/contract/index.ts'
import { refuseUnknown } from '../common/settings.ts'

export default define('objective', {
  make(config) {
    refuseUnknown('sft', config, [])
    return {
      name: 'sft',
      loss: 'cross_entropy',
      needsLogProbs: false,
      encodes: true,
      prepare(rollouts) {
        const tokens = rollouts.reduce((sum, { lossMask }) => sum + lossMask.filter((mark) => mark === 1).length, 0)
        if (tokens === 0) return { kind: 'skip', reason: 'no sample has a token to learn' }
        return { kind: 'train', advantages: rollouts.map(() => 1) }
      },
    }
  },
})
