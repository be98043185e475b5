/** Which adapters can be read, and why others are refused. */
import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import type { Json } from '../../contract/index.ts'
import { listTargets, readAdapter } from './peft.ts'
import type { Tensor } from './tensor.ts'
import { floats, half, RANK, refusal, WEIGHTS, writeAdapter } from './testing.ts'

const replaced = (name: string, tensor: Tensor): ReadonlyMap<string, Tensor> => new Map([...WEIGHTS, [name, tensor]])
const without = (name: string): ReadonlyMap<string, Tensor> => new Map([...WEIGHTS].filter(([other]) => other !== name))
const ones = (count: number): readonly number[] => Array.from({ length: count }, () => 1)

describe('an adapter', () => {
  it('is read with its pairs and the scale they are added by', async () => {
    const { baseModel, rank, scale, pairs } = await readAdapter(await writeAdapter(temporaryFolder()))
    expect({ baseModel, rank, scale }).toEqual({ baseModel: 'tiny', rank: RANK, scale: 4 })
    expect(pairs.map(({ module, inputs, outputs, a }) => ({ module, inputs, outputs, a: [...a] }))).toEqual([
      { module: 'model.layers.0.self_attn.q_proj', inputs: 4, outputs: 8, a: [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5] },
    ])
  })

  it('is scaled by the root of its rank when it says so', async () => {
    const { scale } = await readAdapter(await writeAdapter(temporaryFolder(), { config: { use_rslora: true } }))
    expect(scale).toBeCloseTo(8 / Math.SQRT2, 12)
  })

  it.each<Json>(['all-linear', '.*\\.(q|v)_proj', 'q_proj', null])(
    'may name its modules by %j, and then lists them for engines',
    async (targets) => {
      const directory = await writeAdapter(temporaryFolder(), { config: { target_modules: targets } })
      const adapter = await readAdapter(directory)
      expect(adapter.pairs).toHaveLength(1)
      await listTargets(directory, adapter)
      expect(JSON.parse(await readFile(join(directory, 'adapter_config.json'), 'utf8'))).toMatchObject({
        r: RANK,
        target_modules: ['q_proj'],
      })
    },
  )

  it('that lists its modules is left as it is', async () => {
    const directory = await writeAdapter(temporaryFolder())
    const before = await readFile(join(directory, 'adapter_config.json'), 'utf8')
    await listTargets(directory, await readAdapter(directory))
    expect(await readFile(join(directory, 'adapter_config.json'), 'utf8')).toBe(before)
  })

  it.each<[string, Json, string, string]>([
    ['peft_type', null, 'bad_adapter', 'peft_type'],
    ['peft_type', 'IA3', 'unsupported_adapter', 'peft_type'],
    ['use_dora', true, 'unsupported_adapter', 'use_dora'],
    ['bias', 'all', 'unsupported_adapter', 'bias'],
    ['modules_to_save', ['lm_head'], 'unsupported_adapter', 'modules_to_save'],
    ['rank_pattern', { q_proj: 8 }, 'unsupported_adapter', 'rank_pattern'],
    ['fan_in_fan_out', true, 'unsupported_adapter', 'fan_in_fan_out'],
    ['base_model_name_or_path', null, 'bad_adapter', 'base_model_name_or_path'],
    ['r', 0, 'bad_adapter', 'r of'],
    ['r', 1.5, 'bad_adapter', 'r of'],
    ['r', 1e9, 'bad_adapter', 'r of'],
    ['lora_alpha', 0, 'bad_adapter', 'lora_alpha'],
    ['lora_alpha', '8', 'bad_adapter', 'lora_alpha'],
    ['target_modules', '', 'bad_adapter', 'target_modules'],
    ['target_modules', [1], 'bad_adapter', 'target_modules'],
    ['target_modules', ['k_proj'], 'bad_adapter', 'target_modules does not name'],
  ])('is refused when its %s is %j', async (field, value, code, words) => {
    const directory = await writeAdapter(temporaryFolder(), { config: { [field]: value } })
    await expect(readAdapter(directory)).rejects.toEqual(refusal(code, words))
  })

  it.each<[string, ReadonlyMap<string, Tensor>, string]>([
    ['no pair', new Map(), 'at least one pair'],
    ['a lora_A alone', without(half('B')), 'is missing beside its lora_A'],
    ['a lora_B alone', without(half('A')), 'is missing beside its lora_B'],
    ['a lora_A of another rank', replaced(half('A'), floats([3, 4], ones(12))), 'shape [2, inputs]'],
    ['a lora_B of another rank', replaced(half('B'), floats([8, 3], ones(24))), 'shape [outputs, 2]'],
    ['a lora_A of three dimensions', replaced(half('A'), floats([2, 4, 1], ones(8))), 'shape [2, inputs]'],
    ['a lora_B without rows', replaced(half('B'), floats([0, 2], [])), 'shape [outputs, 2]'],
    ['whole numbers', replaced(half('A'), { dtype: 'I32', shape: [2, 4], bytes: new Uint8Array(32) }), 'floating-point'],
    ['a number that is none', replaced(half('A'), floats([2, 4], [...ones(7), NaN])), 'finite'],
    ['an infinite number', replaced(half('B'), floats([8, 2], [...ones(15), -Infinity])), 'finite'],
    ['a tensor of another method', replaced('base_model.model.x.lora_magnitude_vector', floats([1], [1])), 'must be named'],
    ['a tensor of a full model', replaced('lm_head.weight', floats([1], [1])), 'must be named'],
  ])('is refused with %s', async (_, weights, words) => {
    const directory = await writeAdapter(temporaryFolder(), { weights })
    await expect(readAdapter(directory)).rejects.toEqual(refusal('bad_adapter', words))
  })

  it.each(['adapter_config.json', 'adapter_model.safetensors'])('is refused without %s, and with half of it', async (name) => {
    const directory = await writeAdapter(temporaryFolder())
    await truncate(join(directory, name), 40)
    await expect(readAdapter(directory)).rejects.toEqual(refusal('bad_adapter', name))
    await rm(join(directory, name))
    await expect(readAdapter(directory)).rejects.toEqual(refusal('bad_adapter', `${name} is missing`))
  })

  it('is refused unread when its weights are larger than memory', async () => {
    const directory = await writeAdapter(temporaryFolder())
    await truncate(join(directory, 'adapter_model.safetensors'), 2 ** 40)
    await expect(readAdapter(directory)).rejects.toEqual(refusal('bad_adapter', 'at most'))
  })

  it('is refused when its settings are no object', async () => {
    const directory = await writeAdapter(temporaryFolder())
    await writeFile(join(directory, 'adapter_config.json'), '[]')
    await expect(readAdapter(directory)).rejects.toEqual(refusal('bad_adapter', 'JSON object'))
  })
})
