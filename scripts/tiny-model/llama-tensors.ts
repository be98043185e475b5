/** What a plain Llama consists of: every tensor by its name here and there, and its shape. */
import { llamaName } from '../../src/weights/formats/llama-names.ts'

export interface LlamaExtents {
  readonly vocabulary: number
  readonly layers: number
  readonly width: number
  readonly inner: number
  readonly heads: number
  readonly kvHeads: number
  readonly headWidth: number
}
export interface LlamaTensor {
  /** In llama.cpp. */
  readonly name: string
  /** In Hugging Face's folders, where its weight is called so with `.weight` behind. */
  readonly module: string
  readonly shape: readonly number[]
}

/** One after the other, since the number of layers may be anything a file says. Without a head of its own the embedding is used at both ends. */
export function* llamaTensors(extents: LlamaExtents, hasHead: boolean): Generator<LlamaTensor, void> {
  const ends = [extents.vocabulary, extents.width]
  yield { name: 'token_embd.weight', module: 'model.embed_tokens', shape: ends }
  yield { name: 'output_norm.weight', module: 'model.norm', shape: [extents.width] }
  if (hasHead) yield { name: 'output.weight', module: 'lm_head', shape: ends }
  for (let layer = 0; layer < extents.layers; layer++) yield* layerTensors(extents, layer)
}

function layerTensors(extents: LlamaExtents, layer: number): readonly LlamaTensor[] {
  const module = (rest: string): string => `model.layers.${layer}.${rest}`
  return [
    { name: `blk.${layer}.attn_norm.weight`, module: module('input_layernorm'), shape: [extents.width] },
    { name: `blk.${layer}.ffn_norm.weight`, module: module('post_attention_layernorm'), shape: [extents.width] },
    ...linearShapes(extents).map(([rest, shape]) => ({ name: `${llamaName(module(rest))}.weight`, module: module(rest), shape })),
  ]
}

function linearShapes({ width, inner, heads, kvHeads, headWidth }: LlamaExtents): readonly (readonly [string, readonly number[]])[] {
  const [queries, keys] = [heads * headWidth, kvHeads * headWidth]
  return [
    ['self_attn.q_proj', [queries, width]],
    ['self_attn.k_proj', [keys, width]],
    ['self_attn.v_proj', [keys, width]],
    ['self_attn.o_proj', [width, queries]],
    ['mlp.gate_proj', [inner, width]],
    ['mlp.up_proj', [inner, width]],
    ['mlp.down_proj', [width, inner]],
  ]
}
