/** How llama.cpp calls the tensors of a model, and in which order it wants their rows. */
import { invalid, unsupported, type ModelShape } from '../../contract/index.ts'

const LAYER_MODULES: Readonly<Record<string, string>> = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
}
const MODULE = /^model\.layers\.(0|[1-9]\d{0,4})\.(.+)$/

/** `turns`: whether its query and key rows are stored in pairs for the rotation, where Hugging Face stores them in halves. */
const ARCHITECTURES: Readonly<Record<string, { readonly name: string; readonly turns: boolean }>> = {
  llama: { name: 'llama', turns: true },
  mistral: { name: 'llama', turns: true },
  qwen2: { name: 'qwen2', turns: false },
  qwen3: { name: 'qwen3', turns: false },
}

export interface Architecture {
  readonly name: string
  /** What the rows of a module come to in its order. */
  ordered(module: string, rows: Float32Array, columns: number): Float32Array
  /** The other way: what rows in its order come to in Hugging Face's. */
  restored(module: string, rows: Float32Array, columns: number): Float32Array
}

export function architectureOf({ architecture, heads, kvHeads }: ModelShape): Architecture {
  const known = Object.hasOwn(ARCHITECTURES, architecture) ? ARCHITECTURES[architecture] : undefined
  if (known === undefined)
    throw unsupported(
      'unsupported_architecture',
      `llama.cpp's names are known for ${Object.keys(ARCHITECTURES).join(', ')}; serve another architecture by sglang or vllm`,
    )
  const turned = (module: string, rows: Float32Array, columns: number, order: Order): Float32Array => {
    if (known.turns && module.endsWith('.q_proj')) return moved(module, rows, columns, heads, order)
    return known.turns && module.endsWith('.k_proj') ? moved(module, rows, columns, kvHeads, order) : rows
  }
  return {
    name: known.name,
    ordered: (module, rows, columns) => turned(module, rows, columns, inPairs),
    restored: (module, rows, columns) => turned(module, rows, columns, inHalves),
  }
}

/** `model.layers.3.mlp.up_proj` is `blk.3.ffn_up`. */
export function llamaName(module: string): string {
  const [, layer, rest = ''] = MODULE.exec(module) ?? []
  const name = Object.hasOwn(LAYER_MODULES, rest) ? LAYER_MODULES[rest] : undefined
  if (layer === undefined || name === undefined)
    throw unsupported(
      'unsupported_adapter',
      `${JSON.stringify(module)} has no adapter in llama.cpp; train ${Object.keys(LAYER_MODULES).join(', ')} of the layers alone`,
    )
  return `blk.${layer}.${name}`
}

/** Which row of a head comes to lie at this place of it. */
type Order = (row: number, half: number) => number

/** Row i of the first half and row i of the second come to lie side by side. */
const inPairs: Order = (row, half) => (row % 2) * half + Math.floor(row / 2)
const inHalves: Order = (row, half) => (row < half ? row * 2 : (row - half) * 2 + 1)

function moved(module: string, rows: Float32Array, columns: number, heads: number, order: Order): Float32Array {
  const headRows = rows.length / columns / heads
  if (!Number.isInteger(headRows / 2))
    throw invalid('bad_adapter', `${JSON.stringify(module)} must have an even number of rows for each of the ${heads} heads of the base`)
  const result = new Float32Array(rows.length)
  for (let row = 0; row < rows.length / columns; row++) {
    const within = row % headRows
    const from = row - within + order(within, headRows / 2)
    result.set(rows.subarray(from * columns, (from + 1) * columns), row * columns)
  }
  return result
}
