/** The smallest recipe that changes a harness: every instruction becomes a rule of the tree, if it is admitted. */
import { define, type Adapter, type StepOrder, type StepResult } from '../../src/contract/index.ts'
import { admit, contentOf, entriesIn, openHarness } from '../../src/harness/index.ts'
import { keepOnly } from '../../src/training/index.ts'

export default define('recipe', {
  /** The adapter and the seed come from the `evolution` section. */
  async make(config, parts) {
    const { adapter, seed, files } = await openHarness(config, parts)
    return {
      adapter,
      seed,
      bind: async ({ runtime, gateway, read }) => ({
        runtime,
        surface: { files: files(read) },
        processors: { '': { ...keepOnly('standing-orders'), modes: ['manual'] } },
        ...(gateway && { gateway }),
        close: async () => undefined,
      }),
      trainers: () => ({ '': { lane: 'thread', open: () => ({ step: async (order) => obey(adapter, order) }) } }),
    }
  },
})

function obey(adapter: Adapter, { step, batch: { request }, files }: StepOrder): StepResult {
  if (request === null) return { kind: 'skip', reason: 'nobody asked for anything' }
  const options = { name: 'rules', config: { text: request.text } }
  const admitted = admit(adapter, entriesIn(adapter, files), [{ op: 'create', id: `order-${step}`, options }])
  if (!admitted.admitted) return { kind: 'skip', reason: admitted.reason }
  return { kind: 'publish', content: { kind: 'files', files: contentOf(adapter, admitted.entries) } }
}
