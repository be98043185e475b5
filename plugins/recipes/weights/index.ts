/** Serves a base model with an adapter of the scenario's own, and trains it from reports, or from plain records. */
import { define } from '../../../src/contract/index.ts'
import { byComparisonSet, processorOf } from '../../../src/training/index.ts'
import { openWeights } from '../../../src/weights/index.ts'

export default define('recipe', {
  async make(config, parts) {
    const weights = await openWeights(config, parts)
    const group = weights.groupSize === null ? {} : { group: byComparisonSet(weights.groupSize) }
    return {
      bind: async (scope) => {
        const { hooks, weights: served, retire } = weights.bind(scope, '')
        return {
          runtime: scope.runtime,
          surface: { hooks, weights: served },
          processors: { '': processorOf(config, { name: 'weights', modes: ['auto'], ...group }) },
          ...(scope.gateway && { gateway: scope.gateway }),
          retire,
          close: () => Promise.resolve(),
        }
      },
      trainers: () => ({ '': weights.plan }),
    }
  },
})
