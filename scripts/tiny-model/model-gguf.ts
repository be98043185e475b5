/** A small model of bytes, from its Hugging Face folder to the one file that llama.cpp loads. */
import { join } from 'node:path'
import { invalid, isObject, isRefusal, unsupported, type Json, type JsonObject, type Refusal } from '../../src/contract/index.ts'
import { writeAtomicFile } from '../../src/kit/index.ts'
import { readJsonObject, readWhole } from '../../src/weights/formats/files.ts'
import { writeGguf, type GgufTensor, type GgufValue } from '../../src/weights/formats/gguf.ts'
import { architectureOf, type Architecture } from '../../src/weights/formats/llama-names.ts'
import { llamaTensors, type LlamaTensor } from './llama-tensors.ts'
import { readSafetensors } from '../../src/weights/formats/safetensors.ts'
import { bytesOf, floatsOf, type Tensor } from '../../src/weights/formats/tensor.ts'

const CODE = 'bad_model'
/** A small model is held in memory whole. */
const MODEL_BYTES_MAX = 2 ** 31 - 1
/** Three ids that mean something, then one for each byte. */
const SPECIALS = ['<unk>', '<s>', '</s>'] as const
const VOCABULARY = SPECIALS.length + 256
/** llama.cpp's numbers for what a token is. */
const TOKEN_NORMAL = 1
const TOKEN_UNKNOWN = 2
const TOKEN_CONTROL = 3

/** The folder holds config.json, model.safetensors and tokenizer_config.json with the chat template. */
export async function exportModelGguf(directory: string, outFile: string): Promise<void> {
  const config = configOf(await readJsonObject(join(directory, 'config.json'), CODE))
  const { chat_template } = await readJsonObject(join(directory, 'tokenizer_config.json'), CODE)
  if (typeof chat_template !== 'string') throw invalid(CODE, 'chat_template of tokenizer_config.json must be a template')
  const weights = weightsIn(await readWhole(join(directory, 'model.safetensors'), MODEL_BYTES_MAX, CODE))
  const metadata = new Map([...modelKeys(config), ...tokenizerKeys(chat_template)])
  await writeAtomicFile(outFile, writeGguf({ metadata, tensors: tensorsOf(config, weights) }))
}

type Config = ReturnType<typeof configOf>

function configOf(config: JsonObject) {
  if (config['model_type'] !== 'llama') throw beyond('model_type', 'llama')
  if (config['vocab_size'] !== VOCABULARY) throw beyond('vocab_size', `${VOCABULARY}, one id for each byte after ${SPECIALS.join(' ')}`)
  if ((config['hidden_act'] ?? 'silu') !== 'silu') throw beyond('hidden_act', 'silu')
  for (const field of ['attention_bias', 'mlp_bias']) if (config[field] === true) throw beyond(field, 'false')
  const rope = config['rope_parameters'] ?? config['rope_scaling'] ?? {}
  const { rope_type = 'default', rope_theta = config['rope_theta'] ?? 10_000 } = isObject(rope) ? rope : {}
  if (rope_type !== 'default') throw beyond('rope_type', 'default')
  const count = (field: string, otherwise?: number): number => positive(field, config[field] ?? otherwise, Number.isSafeInteger)
  const [width, heads] = [count('hidden_size'), count('num_attention_heads')]
  return {
    vocabulary: VOCABULARY,
    width,
    heads,
    layers: count('num_hidden_layers'),
    inner: count('intermediate_size'),
    kvHeads: count('num_key_value_heads', heads),
    headWidth: count('head_dim', width / heads),
    context: count('max_position_embeddings'),
    epsilon: positive('rms_norm_eps', config['rms_norm_eps'], Number.isFinite),
    ropeBase: positive('rope_theta', rope_theta, Number.isFinite),
  }
}

function positive(field: string, value: Json | undefined, isFit: (value: unknown) => boolean): number {
  if (typeof value === 'number' && isFit(value) && value > 0) return value
  throw invalid(CODE, `${field} of config.json must be a number above 0`)
}

function weightsIn(bytes: Buffer): ReadonlyMap<string, Tensor> {
  try {
    return readSafetensors(bytes)
  } catch (error) {
    throw isRefusal(error) ? invalid(CODE, `model.safetensors: ${error.message}`) : error
  }
}

function modelKeys(config: Config): readonly (readonly [string, GgufValue])[] {
  return [
    ['general.architecture', string('llama')],
    ['llama.vocab_size', count(VOCABULARY)],
    ['llama.context_length', count(config.context)],
    ['llama.embedding_length', count(config.width)],
    ['llama.block_count', count(config.layers)],
    ['llama.feed_forward_length', count(config.inner)],
    ['llama.attention.head_count', count(config.heads)],
    ['llama.attention.head_count_kv', count(config.kvHeads)],
    ['llama.attention.key_length', count(config.headWidth)],
    ['llama.attention.value_length', count(config.headWidth)],
    ['llama.attention.layer_norm_rms_epsilon', { type: 'f32', value: config.epsilon }],
    ['llama.rope.dimension_count', count(config.headWidth)],
    ['llama.rope.freq_base', { type: 'f32', value: config.ropeBase }],
  ]
}

/**
 * As a byte-pair vocabulary without a single pair: the one kind whose text comes back byte for byte. The other kind, of pieces with scores,
 * takes every space for another character.
 */
function tokenizerKeys(chatTemplate: string): readonly (readonly [string, GgufValue])[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => letterOf(byte))
  return [
    ['tokenizer.ggml.model', string('gpt2')],
    ['tokenizer.ggml.pre', string('gpt-2')],
    ['tokenizer.ggml.tokens', { type: 'array', of: 'string', value: [...SPECIALS, ...bytes] }],
    [
      'tokenizer.ggml.token_type',
      { type: 'array', of: 'i32', value: [TOKEN_UNKNOWN, TOKEN_CONTROL, TOKEN_CONTROL, ...bytes.map(() => TOKEN_NORMAL)] },
    ],
    ['tokenizer.ggml.merges', { type: 'array', of: 'string', value: [] }],
    ['tokenizer.ggml.unknown_token_id', count(0)],
    ['tokenizer.ggml.bos_token_id', count(1)],
    ['tokenizer.ggml.eos_token_id', count(2)],
    // The template writes them where they belong.
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: false }],
    ['tokenizer.ggml.add_eos_token', { type: 'bool', value: false }],
    ['tokenizer.ggml.add_space_prefix', { type: 'bool', value: false }],
    ['tokenizer.chat_template', string(chatTemplate)],
  ]
}

/** The letter that byte-pair vocabularies write for a byte: itself where it can be seen, and else one from U+0100 on, in the order of the bytes. */
function letterOf(byte: number): string {
  if (isSeen(byte)) return String.fromCodePoint(byte)
  const unseenBefore = Array.from({ length: byte }, (_, code) => code).filter((code) => !isSeen(code)).length
  return String.fromCodePoint(0x100 + unseenBefore)
}

const isSeen = (byte: number): boolean => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)

function tensorsOf(config: Config, weights: ReadonlyMap<string, Tensor>): readonly GgufTensor[] {
  const architecture = architectureOf({ architecture: 'llama', heads: config.heads, kvHeads: config.kvHeads })
  // Where there is none, the embedding is used both ways, here as there.
  return Array.from(llamaTensors(config, weights.has('lm_head.weight')), (place) => tensor(architecture, weights, place))
}

function tensor(architecture: Architecture, weights: ReadonlyMap<string, Tensor>, { name, module, shape }: LlamaTensor): GgufTensor {
  const from = weights.get(`${module}.weight`)
  if (from === undefined) throw invalid(CODE, `model.safetensors must hold ${module}.weight`)
  if (from.shape.join() !== shape.join()) throw invalid(CODE, `${module}.weight must have the shape [${shape.join(', ')}], by config.json`)
  return { name, type: 'F32', shape, bytes: bytesOf(architecture.ordered(module, floatsOf(from), shape[1] ?? 1)) }
}

const string = (value: string): GgufValue => ({ type: 'string', value })
const count = (value: number): GgufValue => ({ type: 'u32', value })
const beyond = (field: string, only: string): Refusal =>
  unsupported('unsupported_architecture', `${field} of config.json must be ${only}; use llama.cpp's own converter for other models`)
