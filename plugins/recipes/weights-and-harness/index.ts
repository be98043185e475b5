/** One scenario of two components: an adapter of its own and the harness of an agent, each improved by its own trainer, published and rolled back together. */
import { define, type Files } from '../../../src/contract/index.ts'
import { openEvolution } from '../../../src/evolution/index.ts'
import { openHarness } from '../../../src/harness/index.ts'
import { byComparisonSet, processorOf } from '../../../src/training/index.ts'
import { openWeights } from '../../../src/weights/index.ts'

const WEIGHTS = 'weights'
const HARNESS = 'harness'

export default define('recipe', {
  async make(config, parts) {
    const weights = await openWeights(config, parts)
    const { adapter, seed, judgeStart, judgeImported, files } = await openHarness(config, parts)
    const evolution = await openEvolution(config, { adapter, parts, bundled: [] })
    // Its weights may learn all the same.
    if (evolution.idle !== null) parts.warn(`${HARNESS}: ${evolution.idle}`)
    const group = weights.groupSize === null ? {} : { group: byComparisonSet(weights.groupSize) }
    return {
      adapter,
      seed: Object.fromEntries(Object.entries(seed).map(([path, text]) => [`${HARNESS}/${path}`, text])),
      judgeStart: (content) => judgeStart(below(HARNESS, content)),
      judgeImported: (content) => judgeImported(below(HARNESS, content)),
      bind: async (scope) => {
        const bound = weights.bind(scope, WEIGHTS)
        return {
          runtime: scope.runtime,
          surface: {
            files: files(scope.read, HARNESS),
            componentHooks: { [WEIGHTS]: bound.hooks },
            weights: bound.weights,
          },
          processors: {
            [WEIGHTS]: processorOf(config, { name: WEIGHTS, modes: ['auto'], ...group }),
            [HARNESS]: processorOf(config, { name: HARNESS, modes: ['auto'] }),
          },
          ...(scope.gateway && { gateway: scope.gateway }),
          ...evolution.bind(scope, HARNESS),
          retire: bound.retire,
          close: () => Promise.resolve(),
        }
      },
      trainers: () => ({ [WEIGHTS]: weights.plan, [HARNESS]: evolution.plan }),
    }
  },
})

const below = (folder: string, content: Files): Files =>
  Object.fromEntries(
    Object.entries(content).flatMap(([path, text]) => (path.startsWith(`${folder}/`) ? [[path.slice(folder.length + 1), text]] : [])),
  )
