/**
 * The runtime of a vLLM server: adapters are loaded from disk and asked for as models. Start it with --enable-lora,
 * VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 and --logprobs-mode processed_logprobs.
 */
import { define } from '../../../src/contract/index.ts'
import { makeWeightRuntime } from '../../../src/weights/index.ts'
import { readEngineSettings } from '../common/settings.ts'
import { VllmEngine } from './engine.ts'

export default define('runtime', {
  make: (config) => {
    const settings = readEngineSettings('vllm', config)
    return makeWeightRuntime(new VllmEngine(settings), { name: 'vllm', modelName: settings.model, adapterPrefix: settings.adapterPrefix })
  },
})
