/** Searches at test time: a declared grid of groups and rollouts is one step, and its best rollouts weigh most. */
import { define, isObject } from '../../../src/contract/index.ts'
import { gridProcessor } from '../../../src/training/index.ts'
import { openWeights } from '../../../src/weights/index.ts'
import { checkTttdReport, gridIn, placeInGrid } from './report.ts'

const NAME = 'tttd'

export default define('recipe', {
  async make(config, parts) {
    const { training } = config
    const settings = isObject(training) ? training['objective_config'] : undefined
    const grid = gridIn(isObject(settings) ? settings : {})
    const weights = await openWeights(config, parts, NAME)
    return {
      checkReport: checkTttdReport(grid),
      bind: async (scope) => {
        const { hooks, weights: served, retire } = weights.bind(scope, '')
        return {
          runtime: scope.runtime,
          surface: { hooks, weights: served },
          processors: { '': gridProcessor({ name: NAME, ...grid, place: placeInGrid(grid) }) },
          ...(scope.gateway && { gateway: scope.gateway }),
          retire,
          close: () => Promise.resolve(),
        }
      },
      trainers: () => ({ '': weights.plan }),
    }
  },
})
