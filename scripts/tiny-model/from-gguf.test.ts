/** A model from a GGUF file: the same numbers in the folder, and files that are no plain Llama are refused before anything is written. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { randomModel } from '../../test/weights/support/llama.ts'
import { storageOf } from './dequantise.ts'
import { importModelGguf } from './from-gguf.ts'
import { readGgufFile, writeGguf, type Gguf, type GgufTensor, type GgufValue } from '../../src/weights/formats/gguf.ts'
import { exportModelGguf } from './model-gguf.ts'
import { readSafetensors } from '../../src/weights/formats/safetensors.ts'
import { elementsOf, floatsOf } from '../../src/weights/formats/tensor.ts'

const TINY = join(import.meta.dirname, 'fixtures/tiny/model')
const SCRIPT = join(import.meta.dirname, '../make-tiny-model.mjs')

async function imported(ggufFile: string): Promise<string> {
  const folder = join(temporaryFolder(), 'model')
  await importModelGguf(ggufFile, folder)
  return folder
}

async function numbersIn(folder: string): Promise<ReadonlyMap<string, readonly number[]>> {
  const weights = readSafetensors(await readFile(join(folder, 'model.safetensors')))
  return new Map([...weights].map(([name, tensor]) => [name, [...floatsOf(tensor)]]))
}

const jsonIn = async (folder: string, name: string): Promise<unknown> => JSON.parse(await readFile(join(folder, name), 'utf8'))

/** A model of random numbers, with something else about it. */
async function modelWith(change: (gguf: Gguf) => Gguf, types: Readonly<Record<string, number>> = {}): Promise<string> {
  const path = await randomModel(temporaryFolder())
  const bytes = await readFile(path)
  const { metadata, tensors } = await readGgufFile(path)
  const whole = tensors.map(({ name, shape, offset }): GgufTensor => {
    return { name, shape, type: 'F32', bytes: bytes.subarray(offset, offset + elementsOf(shape) * 4) }
  })
  const changed = writeGguf(change({ metadata, tensors: whole }))
  // The type of a tensor comes after its name, the number of its dimensions, and two of them.
  for (const [name, type] of Object.entries(types)) changed.writeUInt32LE(type, changed.indexOf(name) + name.length + 4 + 2 * 8)
  await writeFile(path, changed)
  return path
}

const withKey = (key: string, value: GgufValue) =>
  modelWith(({ metadata, tensors }) => ({ metadata: new Map([...metadata, [key, value]]), tensors }))
const withoutKey = (key: string) =>
  modelWith(({ metadata, tensors }) => ({ metadata: new Map([...metadata].filter(([name]) => name !== key)), tensors }))
const withTensors = (change: (tensors: readonly GgufTensor[]) => readonly GgufTensor[]) =>
  modelWith(({ metadata, tensors }) => ({ metadata, tensors: change(tensors) }))
const withBytes = (name: string, type: number, bytes: Uint8Array) =>
  modelWith(
    ({ metadata, tensors }) => ({ metadata, tensors: tensors.map((tensor) => (tensor.name === name ? { ...tensor, bytes } : tensor)) }),
    { [name]: type },
  )

const count = (value: number): GgufValue => ({ type: 'u32', value })
const text = (value: string): GgufValue => ({ type: 'string', value })
const extra = (name: string): GgufTensor => ({ name, type: 'F32', shape: [4], bytes: new Uint8Array(16) })

describe('a model from a GGUF file', () => {
  it('has the numbers under the names it had before it became one', async () => {
    const file = join(temporaryFolder(), 'model.gguf')
    await exportModelGguf(TINY, file)
    const folder = await imported(file)
    expect(await numbersIn(folder)).toEqual(await numbersIn(TINY))
    const stated = await jsonIn(TINY, 'config.json')
    expect(await jsonIn(folder, 'config.json')).toMatchObject({ ...Object(stated), rms_norm_eps: Math.fround(1e-5), head_dim: 4 })
  })

  it('lies beside the very file it came from, with its template', async () => {
    const file = await randomModel(temporaryFolder())
    const folder = await imported(file)
    expect((await readdir(folder)).toSorted()).toEqual(['config.json', 'model.gguf', 'model.safetensors', 'tokenizer_config.json'])
    expect((await readFile(join(folder, 'model.gguf'))).equals(await readFile(file))).toBe(true)
    const { metadata } = await readGgufFile(file)
    const template = metadata.get('tokenizer.chat_template')?.value
    const described = { bos_token: '<s>', eos_token: '</s>', chat_template: template, model_max_length: 512 }
    expect(await jsonIn(folder, 'tokenizer_config.json')).toEqual(described)
  })

  it('uses one table for both ends where it has no other', async () => {
    const folder = await imported(await withTensors((tensors) => tensors.filter(({ name }) => name !== 'output.weight')))
    expect(await jsonIn(folder, 'config.json')).toMatchObject({ tie_word_embeddings: true })
    expect([...(await numbersIn(folder)).keys()]).not.toContain('lm_head.weight')
  })

  it.each([
    ['F16', 1, 2],
    ['BF16', 30, 2],
    ['Q8_0', 8, 34 / 32],
    ['Q4_0', 2, 18 / 32],
    ['Q4_1', 3, 20 / 32],
  ])('has the numbers that %s stands for', async (_, type, width) => {
    // Bytes below 0x40 are finite numbers in all of them.
    const bytes = Uint8Array.from({ length: 64 * 32 * width }, (_zero, index) => (index * 7) % 0x40)
    const folder = await imported(await withBytes('blk.1.ffn_up.weight', type, bytes))
    const found = (await numbersIn(folder)).get('model.layers.1.mlp.up_proj.weight')
    expect(found).toEqual([...storageOf(type, '').numbers(bytes)])
    expect(found).toHaveLength(64 * 32)
  })

  it('is made by the script once, and found again', async () => {
    const file = await randomModel(temporaryFolder())
    const run = async () => (await promisify(execFile)(process.execPath, [SCRIPT, '--gguf', file])).stdout.trim()
    const folder = await run()
    expect(await numbersIn(folder)).toEqual(await numbersIn(await imported(file)))
    expect(await run()).toBe(folder)
  })
})

describe('a GGUF file', () => {
  it.each<[string, () => Promise<string>, string, string]>([
    ['of another architecture', () => withKey('general.architecture', text('gemma')), 'unsupported_architecture', 'must be llama'],
    ['with experts', () => withKey('llama.expert_count', count(8)), 'unsupported_architecture', 'llama.expert_count'],
    ['with a window', () => withKey('llama.attention.sliding_window', count(64)), 'unsupported_architecture', 'sliding_window'],
    ['with a stretched rotation', () => withKey('llama.rope.scaling.type', text('yarn')), 'unsupported_architecture', 'rope.scaling.type'],
    ['that turns half a head', () => withKey('llama.rope.dimension_count', count(4)), 'unsupported_architecture', 'dimension_count'],
    [
      'with its own frequencies',
      () => withTensors((all) => [...all, extra('rope_freqs.weight')]),
      'unsupported_architecture',
      'rope_freqs',
    ],
    ['with a bias', () => withTensors((all) => [...all, extra('blk.0.attn_q.bias')]), 'unsupported_architecture', 'attn_q.bias'],
    ['with a tensor twice', () => withTensors((all) => [...all, ...all.slice(0, 1)]), 'bad_model', 'twice'],
    ['without a tensor', () => withTensors((all) => all.slice(0, -1)), 'bad_model', 'must hold blk.1.ffn_down.weight'],
    ['of more layers than there are', () => withKey('llama.block_count', count(2 ** 32 - 1)), 'bad_model', 'must hold blk.2.'],
    ['of no width', () => withKey('llama.embedding_length', count(0)), 'bad_model', 'embedding_length'],
    ['of another width', () => withKey('llama.feed_forward_length', count(96)), 'bad_model', 'must have the shape'],
    ['with heads that differ', () => withKey('llama.attention.head_count', list(4, 2)), 'bad_model', 'one number'],
    ['with heads left over', () => withKey('llama.attention.head_count_kv', count(3)), 'bad_model', 'a multiple'],
    ['without a template', () => withoutKey('tokenizer.chat_template'), 'bad_model', 'tuned for chats'],
    ['in Q6_K', () => withBytes('blk.0.ffn_up.weight', 14, new Uint8Array(64)), 'unsupported_quantisation', 'Q6_K'],
  ])('%s is refused, and nothing is written', async (_, make, code, rule) => {
    const folder = join(temporaryFolder(), 'model')
    await expect(importModelGguf(await make(), folder)).rejects.toMatchObject({
      name: 'Refusal',
      code,
      message: expect.stringContaining(rule),
    })
    expect(existsSync(folder)).toBe(false)
  })

  it('may say that it has no experts and no window', async () => {
    const none = new Map([
      ['llama.expert_count', count(0)],
      ['llama.rope.scaling.type', text('none')],
    ])
    const file = await modelWith(({ metadata, tensors }) => ({ metadata: new Map([...metadata, ...none]), tensors }))
    expect((await numbersIn(await imported(file))).size).toBe(2 * 9 + 3)
  })

  it('is refused when it ends inside a quantised tensor', async () => {
    const file = await withBytes('blk.1.ffn_down.weight', 8, new Uint8Array(32))
    await expect(imported(file)).rejects.toMatchObject({ code: 'bad_model', message: expect.stringContaining('down_proj') })
  })

  it('is refused when it holds what is no number', async () => {
    const file = await withBytes('blk.0.ffn_gate.weight', 1, new Uint8Array(64 * 32 * 2).fill(0xff))
    await expect(imported(file)).rejects.toMatchObject({ code: 'bad_model', message: expect.stringContaining('no number') })
  })
})

function list(...value: readonly number[]): GgufValue {
  return { type: 'array', of: 'u32', value }
}
