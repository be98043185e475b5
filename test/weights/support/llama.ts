/** The llama runtime for tests, installed like `svc runtime add llama`, and tiny random models. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isInstalled } from '../../../src/cli/package-install.ts'
import { installLlama } from '../../../src/cli/runtime-install.ts'
import { ENV, LLAMA_PACKAGE, runtimeFolder } from '../../../src/contract/index.ts'
import { demand } from '../../needs/missing.ts'
import { writeGguf, type GgufTensor, type GgufValue } from '../../../src/weights/formats/gguf.ts'

const RUNTIMES = join(import.meta.dirname, '../../../node_modules/.cache/svc-runtimes')

const folderOf = (): string => runtimeFolder('llama', { ...process.env, [ENV.runtimes]: RUNTIMES })

export const isTestLlamaThere = (): boolean => isInstalled(folderOf(), LLAMA_PACKAGE)
export const installTestLlama = (): Promise<void> => installLlama(folderOf(), process.env)

/** Sets the runtime's folder for this process. */
export function withLlama(): void {
  demand('llama')
  process.env[ENV.runtimes] = RUNTIMES
}

/** The width and the seed of the models below. */
interface Shape {
  readonly width?: number
  readonly seed: number
}

interface ModelOptions extends Pick<Shape, 'seed'> {
  readonly template?: string
}

const [WIDTH, INNER, LAYERS, HEADS] = [32, 64, 2, 4]
/** <unk>, <s>, </s>, and one token per byte, with the tokenizer's space. */
const SPECIALS = ['<unk>', '<s>', '</s>']
const SPACE = 0x20
export const VOCABULARY = SPECIALS.length + 256
export const CONTEXT_TOKENS = 512
/** A turn ends with the end token, as in real templates. Tools are only listed. */
const TEMPLATE = `{{ bos_token }}{% if tools %}tools: {{ tools | tojson }}
{% endif %}{% for message in messages %}{{ message.role }}: {% if message.tool_calls %}{{ message.tool_calls | tojson }}{% endif %}{{ message.content }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}`

/** A random model, with a distribution sharp enough that adapters and seeds matter. */
export async function randomModel(directory: string, { seed, template = TEMPLATE }: ModelOptions = { seed: 7 }): Promise<string> {
  const tensor = drawing(seed)
  const ones = (name: string): GgufTensor => ({ name, type: 'F32', shape: [WIDTH], bytes: bytesOf(new Float32Array(WIDTH).fill(1)) })
  const layers = Array.from({ length: LAYERS }, (_, layer) => [
    ones(`blk.${layer}.attn_norm.weight`),
    ones(`blk.${layer}.ffn_norm.weight`),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) => tensor(`blk.${layer}.${name}.weight`, [WIDTH, WIDTH], 0.3)),
    ...['ffn_gate', 'ffn_up'].map((name) => tensor(`blk.${layer}.${name}.weight`, [INNER, WIDTH], 0.3)),
    tensor(`blk.${layer}.ffn_down.weight`, [WIDTH, INNER], 0.3),
  ])
  const ends = [
    tensor('token_embd.weight', [VOCABULARY, WIDTH], 1),
    ones('output_norm.weight'),
    tensor('output.weight', [VOCABULARY, WIDTH], 0.8),
  ]
  const path = join(directory, 'model.gguf')
  await mkdir(directory, { recursive: true })
  await writeFile(path, writeGguf({ metadata: new Map([...MODEL, ...tokenizer(template)]), tensors: [...ends, ...layers.flat()] }))
  return path
}

/** A random adapter folder. Another width does not fit the model. */
export async function randomAdapter(directory: string, { width = WIDTH, seed }: Shape): Promise<string> {
  const tensor = drawing(seed)
  const tensors = ['blk.0.attn_v.weight', 'blk.1.attn_output.weight'].flatMap((name) => [
    tensor(`${name}.lora_a`, [4, width], 0.6),
    tensor(`${name}.lora_b`, [width, 4], 0.6),
  ])
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'adapter.gguf'), writeGguf({ metadata: new Map(ADAPTER), tensors }))
  return directory
}

const text = (value: string): GgufValue => ({ type: 'string', value })
const number = (type: 'u32' | 'f32', value: number): GgufValue => ({ type, value })

const ADAPTER: readonly (readonly [string, GgufValue])[] = [
  ['general.type', text('adapter')],
  ['general.architecture', text('llama')],
  ['adapter.type', text('lora')],
  ['adapter.lora.alpha', number('f32', 8)],
]

const MODEL: readonly (readonly [string, GgufValue])[] = [
  ['general.architecture', text('llama')],
  ['general.name', text('random')],
  ['llama.context_length', number('u32', CONTEXT_TOKENS)],
  ['llama.embedding_length', number('u32', WIDTH)],
  ['llama.block_count', number('u32', LAYERS)],
  ['llama.feed_forward_length', number('u32', INNER)],
  ['llama.attention.head_count', number('u32', HEADS)],
  ['llama.attention.head_count_kv', number('u32', HEADS)],
  ['llama.attention.layer_norm_rms_epsilon', number('f32', 1e-5)],
  ['llama.rope.dimension_count', number('u32', WIDTH / HEADS)],
  ['llama.rope.freq_base', number('f32', 10_000)],
  ['llama.vocab_size', number('u32', VOCABULARY)],
]

function tokenizer(template: string): readonly (readonly [string, GgufValue])[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => (byte === SPACE ? '▁' : `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`))
  const types = [2, 3, 3, ...bytes.map((_, byte) => (byte === SPACE ? 1 : 6))]
  const [unknown, bos, eos] = [0, 1, 2]
  return [
    ['tokenizer.ggml.model', text('llama')],
    ['tokenizer.ggml.tokens', { type: 'array', of: 'string', value: [...SPECIALS, ...bytes] }],
    ['tokenizer.ggml.scores', { type: 'array', of: 'f32', value: types.map(() => 0) }],
    ['tokenizer.ggml.token_type', { type: 'array', of: 'i32', value: types }],
    ['tokenizer.ggml.unknown_token_id', number('u32', unknown)],
    ['tokenizer.ggml.bos_token_id', number('u32', bos)],
    ['tokenizer.ggml.eos_token_id', number('u32', eos)],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: false }],
    ['tokenizer.ggml.add_space_prefix', { type: 'bool', value: false }],
    ['tokenizer.chat_template', text(template)],
  ]
}

/** A small seeded generator. */
function drawing(seed: number): (name: string, shape: readonly number[], scale: number) => GgufTensor {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 31 - 1
  }
  return (name, shape, scale) => {
    const length = shape.reduce((product, size) => product * size, 1)
    return { name, type: 'F32', shape, bytes: bytesOf(Float32Array.from({ length }, () => next() * scale)) }
  }
}

const bytesOf = (numbers: Float32Array): Uint8Array => new Uint8Array(numbers.buffer)
