/** A plain Llama from a GGUF file, laid out as Hugging Face does it: what the file serves can be trained then. */
import { constants } from 'node:fs'
import { copyFile, open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { invalid, unsupported, type JsonObject, type Refusal } from '../../src/contract/index.ts'
import { storageOf } from './dequantise.ts'
import { makeFolder, writeAtomicFile } from '../../src/kit/index.ts'
import { readGgufFile, type GgufHead } from '../../src/weights/formats/gguf.ts'
import { architectureOf } from '../../src/weights/formats/llama-names.ts'
import { llamaTensors, type LlamaExtents } from './llama-tensors.ts'
import { safetensorsHead } from '../../src/weights/formats/safetensors.ts'
import { bytesOf, elementsOf } from '../../src/weights/formats/tensor.ts'

const CODE = 'bad_model'
const ARCHITECTURE = 'llama'
/** Others that read safetensors refuse a file which does not say whose order of numbers it holds. */
const WHOSE_ORDER = { format: 'pt' }

/** Writes config.json, model.safetensors, tokenizer_config.json and, as it is, model.gguf. One tensor at a time is held in memory. */
export async function importModelGguf(ggufFile: string, directory: string): Promise<void> {
  const served = join(directory, 'model.gguf')
  const { files, parts } = planOf(await readGgufFile(ggufFile))
  await makeFolder(directory)
  // Not a link: a later download of the file would overwrite the bytes of this folder.
  await copyFile(ggufFile, served, constants.COPYFILE_FICLONE)
  await writeWeights(served, parts, join(directory, 'model.safetensors'))
  for (const [name, content] of Object.entries(files)) await writeAtomicFile(join(directory, name), JSON.stringify(content, null, 1))
}

/** Everything that the head of the file can be refused for is refused here, before anything is written. */
function planOf(head: GgufHead) {
  const facts = new Facts(head.metadata)
  checkArchitecture(facts, head)
  const extents = extentsOf(facts, head)
  const hasHead = head.tensors.some(({ name }) => name === 'output.weight')
  const parts = partsOf(head, extents, hasHead)
  return {
    parts,
    files: { 'config.json': modelConfig(facts, extents, hasHead), 'tokenizer_config.json': tokenizerConfig(facts) },
  }
}

/** What is read below, and two keys that nothing depends on. */
const KNOWN_KEYS = [
  'context_length',
  'embedding_length',
  'block_count',
  'feed_forward_length',
  'attention.head_count',
  'attention.head_count_kv',
  'attention.key_length',
  'attention.value_length',
  'attention.layer_norm_rms_epsilon',
  'rope.dimension_count',
  'rope.freq_base',
  'vocab_size',
  'tensor_data_layout',
]

/** What a file says beyond a plain Llama would be left out in training, unless it says nothing: no experts, no window. */
function checkArchitecture({ metadata }: Facts, { tensors }: GgufHead): void {
  const architecture = metadata.get('general.architecture')?.value
  if (architecture !== ARCHITECTURE) throw beyond(`general.architecture must be ${ARCHITECTURE}`)
  const known = new Set(KNOWN_KEYS.map((key) => `${ARCHITECTURE}.${key}`))
  for (const [key, { value }] of metadata) {
    const saysNothing = value === 0 || value === false || value === 'none'
    if (key.startsWith(`${ARCHITECTURE}.`) && !known.has(key) && !saysNothing) throw beyond(`${shown(key)} bends the plain architecture`)
  }
  if (tensors.some(({ name }) => name === 'rope_freqs.weight')) throw beyond('rope_freqs.weight bends the plain architecture')
}

function extentsOf(facts: Facts, { tensors }: GgufHead): LlamaExtents {
  const [width, heads] = [facts.count('embedding_length'), facts.count('attention.head_count')]
  const headWidth = facts.count('attention.key_length', width / heads)
  if (headWidth % 2 !== 0) throw invalid(CODE, 'the width of a head must be even')
  for (const key of ['attention.value_length', 'rope.dimension_count'])
    if (facts.count(key, headWidth) !== headWidth) throw beyond(`${ARCHITECTURE}.${key} must be the width of a head`)
  const kvHeads = facts.count('attention.head_count_kv', heads)
  if (heads % kvHeads !== 0) throw invalid(CODE, `${ARCHITECTURE}.attention.head_count must be a multiple of head_count_kv`)
  return {
    width,
    heads,
    headWidth,
    kvHeads,
    layers: facts.count('block_count'),
    inner: facts.count('feed_forward_length'),
    vocabulary: tensors.find(({ name }) => name === 'token_embd.weight')?.shape[0] ?? 0,
  }
}

function partsOf({ tensors }: GgufHead, extents: LlamaExtents, hasHead: boolean) {
  const places = new Map(tensors.map((place) => [place.name, place]))
  if (places.size !== tensors.length) throw invalid(CODE, 'a tensor of the GGUF file is there twice')
  const architecture = architectureOf({ ...extents, architecture: ARCHITECTURE })
  const parts = Array.from(llamaTensors(extents, hasHead), ({ name, module, shape }) => {
    const place = places.get(name)
    if (place === undefined) throw invalid(CODE, `the GGUF file must hold ${name}; take one that is whole`)
    if (place.shape.join() !== shape.join())
      throw invalid(CODE, `${name} must have the shape [${shape.join(', ')}], by the keys of the file`)
    const storage = storageOf(place.type, name)
    const columns = shape.at(-1) ?? 1
    if (columns % storage.blockNumbers !== 0) throw invalid(CODE, `the rows of ${name} must be whole blocks of ${storage.blockNumbers}`)
    const bytes = (elementsOf(shape) / storage.blockNumbers) * storage.blockBytes
    places.delete(name)
    return {
      name: `${module}.weight`,
      shape,
      offset: place.offset,
      bytes,
      storage,
      /** In the order of rows that Hugging Face has. */
      restored: (rows: Float32Array) => architecture.restored(module, rows, columns),
    }
  })
  const [stranger] = places.keys()
  if (stranger !== undefined) throw beyond(`tensor ${shown(stranger)} has no place in it`)
  return parts
}

function modelConfig(facts: Facts, extents: LlamaExtents, hasHead: boolean): JsonObject {
  return {
    architectures: ['LlamaForCausalLM'],
    attention_bias: false,
    ...facts.ids(),
    head_dim: extents.headWidth,
    hidden_act: 'silu',
    hidden_size: extents.width,
    intermediate_size: extents.inner,
    max_position_embeddings: facts.count('context_length'),
    mlp_bias: false,
    model_type: ARCHITECTURE,
    num_attention_heads: extents.heads,
    num_hidden_layers: extents.layers,
    num_key_value_heads: extents.kvHeads,
    rms_norm_eps: facts.positive('attention.layer_norm_rms_epsilon'),
    rope_theta: facts.positive('rope.freq_base', 10_000),
    tie_word_embeddings: !hasHead,
    torch_dtype: 'float32',
    vocab_size: extents.vocabulary,
  }
}

/** Ids are made from text by who serves it, so the vocabulary stays in the GGUF file. */
function tokenizerConfig(facts: Facts): JsonObject {
  const template = facts.metadata.get('tokenizer.chat_template')?.value
  if (typeof template !== 'string')
    throw invalid(CODE, 'the GGUF file must hold tokenizer.chat_template; take a model that was tuned for chats')
  return { ...facts.words(), chat_template: template, model_max_length: facts.count('context_length') }
}

class Facts {
  readonly metadata: GgufHead['metadata']

  constructor(metadata: GgufHead['metadata']) {
    this.metadata = metadata
  }

  count(key: string, otherwise?: number): number {
    const value = this.positive(key, otherwise)
    if (Number.isSafeInteger(value)) return value
    throw invalid(CODE, `${ARCHITECTURE}.${key} of the GGUF file must be a whole number`)
  }

  positive(key: string, otherwise?: number): number {
    const value = this.metadata.get(`${ARCHITECTURE}.${key}`)?.value ?? otherwise
    if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
    throw invalid(CODE, `${ARCHITECTURE}.${key} of the GGUF file must be one number above 0`)
  }

  /** Of those tokens that mean something, where it says so. */
  ids(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#specials().map(([name, id]) => [`${name}_token_id`, id]))
  }

  words(): Readonly<Record<string, string>> {
    const tokens = this.metadata.get('tokenizer.ggml.tokens')?.value
    const list: readonly unknown[] = Array.isArray(tokens) ? tokens : []
    return Object.fromEntries(
      this.#specials().flatMap(([name, id]) => {
        const word = list[id]
        return typeof word === 'string' ? [[`${name}_token`, word]] : []
      }),
    )
  }

  #specials(): readonly (readonly [string, number])[] {
    return ['bos', 'eos'].flatMap((name) => {
      const id = this.metadata.get(`tokenizer.ggml.${name}_token_id`)?.value
      return typeof id === 'number' ? [[name, id] as const] : []
    })
  }
}

type Part = ReturnType<typeof partsOf>[number]

async function writeWeights(ggufFile: string, parts: readonly Part[], outFile: string): Promise<void> {
  await using from = await open(ggufFile, 'r')
  const { size } = await from.stat()
  for (const { name, offset, bytes } of parts)
    if (offset + bytes > size) throw invalid(CODE, `the GGUF file ends inside what is to be ${name}; download it again`)
  await using to = await open(outFile, 'w')
  const shapes = parts.map(({ name, shape }) => [name, { dtype: 'F32', shape }] as const)
  await to.appendFile(safetensorsHead(shapes, WHOSE_ORDER))
  for (const part of parts) await to.appendFile(bytesOf(part.restored(await numbersOf(from, part))))
  await to.sync()
}

async function numbersOf(file: FileHandle, { name, offset, bytes, storage }: Part): Promise<Float32Array> {
  // Never of the pool: numbers of four bytes are looked at where they lie.
  const stored = Buffer.allocUnsafeSlow(bytes)
  for (let filled = 0; filled < bytes;) {
    const { bytesRead } = await file.read(stored, filled, bytes - filled, offset + filled)
    if (bytesRead === 0) throw invalid(CODE, 'the GGUF file became shorter while it was read; try again')
    filled += bytesRead
  }
  const numbers = storage.numbers(stored)
  if (numbers.every(Number.isFinite)) return numbers
  throw invalid(CODE, `${name} holds what is no number; download the file again`)
}

const NAME_LETTERS_MAX = 64
const shown = (name: string): string => JSON.stringify(name.slice(0, NAME_LETTERS_MAX))
const beyond = (rule: string): Refusal =>
  unsupported('unsupported_architecture', `the GGUF file is no plain Llama: ${rule}; take a model of that architecture`)
