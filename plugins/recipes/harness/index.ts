/** Serves a harness for one agent and keeps its traffic. No trainer works on it: only what the service ships in it ever changes. */
import { define } from '../../../src/contract/index.ts'
import { openHarness } from '../../../src/harness/index.ts'
import { keepOnly } from '../../../src/training/index.ts'

export default define('recipe', {
  async make(config, parts) {
    const { adapter, seed, files } = await openHarness(config, parts)
    return {
      adapter,
      seed,
      bind: ({ runtime, gateway, read }) =>
        Promise.resolve({
          runtime,
          surface: { files: files(read) },
          processors: { '': keepOnly('harness') },
          ...(gateway && { gateway }),
          close: () => Promise.resolve(),
        }),
    }
  },
})
