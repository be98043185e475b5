/** Adapters in the names and the order of llama.cpp. */
import { describe, expect, it } from 'vitest'
import { adapterGguf } from './adapter-gguf.ts'
import { readGguf, type GgufHead } from './gguf.ts'
import type { LoraPair, PeftAdapter } from './peft.ts'
import { refusal } from './testing.ts'

/** Rank 1, so that a row of lora_b is one number: its own place. */
const pair = (module: string, outputs: number): LoraPair => ({
  module: `model.layers.1.${module}`,
  inputs: 2,
  outputs,
  a: Float32Array.from([1, 2]),
  b: Float32Array.from({ length: outputs }, (_, index) => index),
})
const adapter = (pairs: readonly LoraPair[]): PeftAdapter => ({ baseModel: 'tiny', rank: 1, scale: 3, pairs })
const LLAMA = { architecture: 'llama', heads: 2, kvHeads: 1 }

function written(pairs: readonly LoraPair[], base = LLAMA): GgufHead & { readonly rows: (name: string) => number[] } {
  const bytes = adapterGguf(adapter(pairs), base)
  const head = readGguf(bytes, bytes.length)
  return {
    ...head,
    rows(name) {
      const { offset = 0, shape = [] } = head.tensors.find((tensor) => tensor.name === name) ?? {}
      return Array.from({ length: shape[0] ?? 0 }, (_, index) => bytes.readFloatLE(offset + index * 4))
    },
  }
}

describe('an adapter for llama.cpp', () => {
  it('says what it is and by how much it is scaled', () => {
    expect([...written([pair('mlp.up_proj', 4)]).metadata.values()].map(({ value }) => value)).toEqual(['adapter', 'llama', 'lora', 3])
  })

  it('has both halves of each pair, under the names of llama.cpp', () => {
    const modules = ['q_proj', 'k_proj', 'v_proj', 'o_proj'].map((name) => `self_attn.${name}`)
    const all = [...modules, 'mlp.gate_proj', 'mlp.up_proj', 'mlp.down_proj'].map((module) => pair(module, 8))
    const names = written(all).tensors.map(({ name }) => name)
    const expected = ['attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_gate', 'ffn_up', 'ffn_down']
    expect(names).toEqual(expected.flatMap((name) => [`blk.1.${name}.weight.lora_a`, `blk.1.${name}.weight.lora_b`]))
    expect(written(all).tensors[1]?.shape).toEqual([8, 1])
  })

  it('has the rows of queries and keys of a llama in pairs, head by head, and no others', () => {
    const { rows } = written([pair('self_attn.q_proj', 8), pair('self_attn.k_proj', 4), pair('self_attn.v_proj', 4)])
    expect(rows('blk.1.attn_q.weight.lora_b')).toEqual([0, 2, 1, 3, 4, 6, 5, 7])
    expect(rows('blk.1.attn_k.weight.lora_b')).toEqual([0, 2, 1, 3])
    expect(rows('blk.1.attn_v.weight.lora_b')).toEqual([0, 1, 2, 3])
  })

  it('leaves the rows of a qwen as they are', () => {
    const { rows } = written([pair('self_attn.q_proj', 8)], { ...LLAMA, architecture: 'qwen3' })
    expect(rows('blk.1.attn_q.weight.lora_b')).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('calls a mistral what llama.cpp calls it', () => {
    const { metadata } = written([pair('mlp.up_proj', 4)], { ...LLAMA, architecture: 'mistral' })
    expect(metadata.get('general.architecture')?.value).toBe('llama')
  })

  it.each(['gpt_oss', 'constructor'])('is not made for the architecture %s, and those known are named', (architecture) => {
    expect(() => written([pair('mlp.up_proj', 4)], { ...LLAMA, architecture })).toThrow(
      refusal('unsupported_architecture', 'llama, mistral, qwen2, qwen3'),
    )
  })

  it.each(['lm_head', 'model.embed_tokens', 'model.layers.0.mlp.router', 'model.layers.0.toString'])('is not made with %s', (module) => {
    expect(() => written([{ ...pair('mlp.up_proj', 4), module }])).toThrow(expect.objectContaining({ code: 'unsupported_adapter' }))
  })

  it('is refused when its rows do not divide among the heads of the base', () => {
    expect(() => written([pair('self_attn.q_proj', 6)])).toThrow(refusal('bad_adapter', '2 heads'))
  })
})
