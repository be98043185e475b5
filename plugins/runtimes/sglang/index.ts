/** The runtime of an SGLang server: adapters are loaded from disk and named by each request. Start it with --enable-lora. */
import { define } from '../../../src/contract/index.ts'
import { makeWeightRuntime } from '../../../src/weights/index.ts'
import { readEngineSettings } from '../common/settings.ts'
import { SglangEngine } from './engine.ts'

export default define('runtime', {
  make: (config) => {
    const settings = readEngineSettings('sglang', config)
    return makeWeightRuntime(new SglangEngine(settings), {
      name: 'sglang',
      modelName: settings.model,
      adapterPrefix: settings.adapterPrefix,
    })
  },
})
