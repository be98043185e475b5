/** A model of bytes becomes a file for llama.cpp; what cannot become one is named. */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import type { Json } from '../../src/contract/index.ts'
import { readGgufFile } from '../../src/weights/formats/gguf.ts'
import { exportModelGguf } from './model-gguf.ts'
import { readModelShape } from '../../src/weights/formats/model-shape.ts'
import { writeSafetensors, readSafetensors } from '../../src/weights/formats/safetensors.ts'

const TINY = join(import.meta.dirname, 'fixtures/tiny/model')

async function tinyWith(config: Readonly<Record<string, Json>>): Promise<string> {
  const folder = temporaryFolder()
  await cp(TINY, folder, { recursive: true })
  const stated: Record<string, Json> = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'))
  await writeFile(join(folder, 'config.json'), JSON.stringify({ ...stated, ...config }))
  return folder
}

async function exported(folder: string): Promise<string> {
  const file = join(temporaryFolder(), 'model.gguf')
  await exportModelGguf(folder, file)
  return file
}

describe('a model of bytes', () => {
  it('has every tensor under its name in llama.cpp', async () => {
    const { tensors } = await readGgufFile(await exported(TINY))
    const layer = ['attn_norm', 'ffn_norm', 'attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_gate', 'ffn_up', 'ffn_down']
    const layers = [0, 1].flatMap((number) => layer.map((name) => `blk.${number}.${name}.weight`))
    expect(tensors.map(({ name }) => name)).toEqual(['token_embd.weight', 'output_norm.weight', 'output.weight', ...layers])
  })

  it('has an id for each byte, after three that mean something', async () => {
    const { metadata } = await readGgufFile(await exported(TINY))
    const list = metadata.get('tokenizer.ggml.tokens')?.value
    const tokens = Array.isArray(list) ? list : []
    expect(tokens.slice(0, 3)).toEqual(['<unk>', '<s>', '</s>'])
    expect([tokens[3 + 0x41], tokens[3 + 0x20], tokens[3 + 0x0a], tokens[3 + 0xad]]).toEqual(['A', 'Ġ', 'Ċ', 'Ń'])
    expect([tokens.length, new Set(tokens).size]).toEqual([259, 259])
  })

  it('has the same shape before and after', async () => {
    const shape = { architecture: 'llama', heads: 4, kvHeads: 2 }
    expect(await readModelShape(await exported(TINY))).toEqual(shape)
    expect(await readModelShape(TINY)).toEqual(shape)
    expect(await readModelShape(join(TINY, 'config.json'))).toEqual(shape)
  })

  it('may use one table for both ends', async () => {
    const folder = await tinyWith({ tie_word_embeddings: true })
    const weights = new Map(readSafetensors(await readFile(join(TINY, 'model.safetensors'))))
    weights.delete('lm_head.weight')
    await writeFile(join(folder, 'model.safetensors'), writeSafetensors(weights))
    const { tensors } = await readGgufFile(await exported(folder))
    expect(tensors.map(({ name }) => name)).not.toContain('output.weight')
  })

  it.each<[string, Json, string]>([
    ['model_type', 'gemma', 'unsupported_architecture'],
    ['vocab_size', 32_000, 'unsupported_architecture'],
    ['hidden_act', 'gelu', 'unsupported_architecture'],
    ['attention_bias', true, 'unsupported_architecture'],
    ['rope_scaling', { rope_type: 'yarn' }, 'unsupported_architecture'],
    ['hidden_size', 'wide', 'bad_model'],
    ['num_hidden_layers', 3, 'bad_model'],
    ['intermediate_size', 31, 'bad_model'],
    ['rms_norm_eps', null, 'bad_model'],
  ])('is refused when its %s is %j', async (field, value, code) => {
    await expect(exported(await tinyWith({ [field]: value }))).rejects.toMatchObject({ name: 'Refusal', code })
  })
})

describe('the shape of a base', () => {
  it.each<[string, Json]>([
    ['num_attention_heads', 0],
    ['num_attention_heads', '4'],
    ['num_key_value_heads', 1.5],
    ['model_type', 7],
  ])('is refused when its %s is %j', async (field, value) => {
    await expect(readModelShape(await tinyWith({ [field]: value }))).rejects.toMatchObject({ code: 'bad_model' })
  })

  it('is refused of a base that is not there', async () => {
    await expect(readModelShape(join(temporaryFolder(), 'none.gguf'))).rejects.toMatchObject({ code: 'bad_model' })
  })

  it('is refused of a file that is no model', async () => {
    await expect(readModelShape(join(TINY, 'model.safetensors'))).rejects.toMatchObject({ code: 'bad_gguf' })
  })
})
