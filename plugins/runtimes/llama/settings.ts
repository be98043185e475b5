/** The settings of the llama runtime. */
import { resolve } from 'node:path'
import { invalid, type JsonObject } from '../../../src/contract/index.ts'
import { countIn, refuseUnknown } from '../common/settings.ts'

export type LlamaSettings = ReturnType<typeof readSettings>

/** `timeout_s` is accepted and not used: the engine is in this process, and the caller aborts its calls. */
const KNOWN = ['model', 'capacity', 'parallel', 'context_tokens', 'threads', 'gpu', 'timeout_s']
const CAPACITY_MAX = 10_000
const PARALLEL_MAX = 256
const CONTEXT_TOKENS_MAX = 2 ** 24
const THREADS_MAX = 1024

export function readSettings(config: JsonObject) {
  refuseUnknown('llama', config, KNOWN)
  return {
    /** The GGUF file of the base model. */
    model: modelIn(config),
    /** How many adapters it holds at once. */
    capacity: countIn(config, 'capacity', CAPACITY_MAX) ?? 4,
    /** How many generations run at once. */
    parallel: countIn(config, 'parallel', PARALLEL_MAX) ?? 4,
    /** Of prompt and answer together; null takes what the model was trained for, up to a limit. */
    contextTokens: countIn(config, 'context_tokens', CONTEXT_TOKENS_MAX),
    /** Of one evaluation; null takes all cores but one. */
    threads: countIn(config, 'threads', THREADS_MAX),
    gpu: gpuIn(config),
  }
}

function modelIn(config: JsonObject): string {
  const model = config['model']
  if (typeof model !== 'string' || model === '')
    throw invalid('bad_setting', 'the llama runtime needs model: the path of the GGUF file of the base model (inference.engine.model)')
  return resolve(model)
}

function gpuIn(config: JsonObject): 'auto' | 'off' {
  const gpu = config['gpu'] ?? 'off'
  if (gpu !== 'auto' && gpu !== 'off') throw invalid('bad_setting', 'gpu must be auto or off')
  return gpu
}
