/** Llama: the runtime of a model in this process, by node-llama-cpp, which `svc runtime add llama` installs. Its weights can be trained. */
import { define } from '../../../src/contract/index.ts'
import { makeWeightRuntime } from '../../../src/weights/index.ts'
import { openLlamaEngine } from './engine.ts'
import { readSettings } from './settings.ts'

export default define('runtime', {
  make: async (config) => {
    const engine = await openLlamaEngine(readSettings(config))
    return makeWeightRuntime(engine, { name: 'llama', modelName: engine.modelName })
  },
})
