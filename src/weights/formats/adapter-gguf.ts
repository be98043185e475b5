/** An adapter as llama.cpp loads it. */
import type { ModelShape } from '../../contract/index.ts'
import { writeGguf, type GgufTensor, type GgufValue } from './gguf.ts'
import { architectureOf, llamaName } from './llama-names.ts'
import type { PeftAdapter } from './peft.ts'
import { bytesOf } from './tensor.ts'

export const ADAPTER_GGUF = 'adapter.gguf'

export function adapterGguf({ rank, scale, pairs }: PeftAdapter, base: ModelShape): Buffer {
  const architecture = architectureOf(base)
  const metadata = new Map<string, GgufValue>([
    ['general.type', { type: 'string', value: 'adapter' }],
    ['general.architecture', { type: 'string', value: architecture.name }],
    ['adapter.type', { type: 'string', value: 'lora' }],
    // llama.cpp divides it by the rank again, whatever way the scale was come by.
    ['adapter.lora.alpha', { type: 'f32', value: scale * rank }],
  ])
  const tensors = pairs.flatMap(({ module, inputs, outputs, a, b }): GgufTensor[] => {
    const name = `${llamaName(module)}.weight`
    return [
      { name: `${name}.lora_a`, type: 'F32', shape: [rank, inputs], bytes: bytesOf(a) },
      { name: `${name}.lora_b`, type: 'F32', shape: [outputs, rank], bytes: bytesOf(architecture.ordered(module, b, rank)) },
    ]
  })
  return writeGguf({ metadata, tensors })
}
