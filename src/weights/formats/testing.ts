/** Adapters and archives for tests, valid or with faults, and the refusals they meet. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ADAPTER_CONFIG_FILE, isRefusal, type JsonObject } from '../../contract/index.ts'
import { ADAPTER_WEIGHTS } from './peft.ts'
import type { Origin } from './provenance.ts'
import { writeSafetensors } from './safetensors.ts'
import { bytesOf, type Tensor } from './tensor.ts'

export const RANK = 2
const INPUTS = 4
const OUTPUTS = 8

export const ORIGIN: Origin = {
  scenario: 'colours',
  step: 3,
  job: 'job-1',
  base_model: 'tiny',
  base_digest: null,
  parent: { release_id: null, job: null },
  trainer_state: 'tinker://model-1/weights/job-1',
  objective: 'grouped',
  optimizer_steps: 1,
  probe: { tokens: [1, 2, 3], log_probs: [-0.5, -2] },
}

export const SHAPE = { architecture: 'llama', heads: 2, kvHeads: 2 }

export const floats = (shape: readonly number[], values: readonly number[]): Tensor => ({
  dtype: 'F32',
  shape,
  bytes: bytesOf(Float32Array.from(values)),
})

const counting = (count: number, step: number): readonly number[] => Array.from({ length: count }, (_, index) => index * step)

/** The name of one half of the pair that an adapter of these tests has. */
export const half = (side: 'A' | 'B'): string => `base_model.model.model.layers.0.self_attn.q_proj.lora_${side}.weight`

export const WEIGHTS: ReadonlyMap<string, Tensor> = new Map([
  [half('A'), floats([RANK, INPUTS], counting(RANK * INPUTS, 0.5))],
  [half('B'), floats([OUTPUTS, RANK], counting(OUTPUTS * RANK, 1))],
])

const CONFIG: JsonObject = {
  peft_type: 'LORA',
  base_model_name_or_path: 'tiny',
  r: RANK,
  lora_alpha: 8,
  target_modules: ['q_proj'],
  bias: 'none',
  use_dora: false,
  modules_to_save: null,
  rank_pattern: {},
}

export interface AdapterFault {
  readonly config?: JsonObject
  readonly weights?: ReadonlyMap<string, Tensor>
}

export const adapterFiles = ({ config, weights }: AdapterFault = {}): Readonly<Record<string, Buffer>> => ({
  [ADAPTER_CONFIG_FILE]: Buffer.from(JSON.stringify({ ...CONFIG, ...config })),
  [ADAPTER_WEIGHTS]: writeSafetensors(weights ?? WEIGHTS),
})

export async function writeAdapter(directory: string, fault?: AdapterFault): Promise<string> {
  await mkdir(directory, { recursive: true })
  for (const [name, bytes] of Object.entries(adapterFiles(fault))) await writeFile(join(directory, name), bytes)
  return directory
}

export interface TarEntry {
  readonly path: string
  readonly bytes?: Uint8Array
  readonly type?: string
  /** What the header says of its length, where that is not true. */
  readonly size?: string
}

export function tarOf(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.map(tarEntry), Buffer.alloc(1024)])
}

export const tarOfFiles = (files: Readonly<Record<string, Uint8Array>>): Buffer =>
  tarOf(Object.entries(files).map(([path, bytes]) => ({ path, bytes })))

function tarEntry({ path, bytes = new Uint8Array(), type = '0', size }: TarEntry): Buffer {
  const header = Buffer.alloc(512)
  header.write(path, 0, 100)
  header.write('0000644\0', 100)
  header.write(size ?? `${bytes.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  header.write('        ', 148)
  header.write(type, 156)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, bytes, Buffer.alloc(-bytes.length & 511)])
}

export const refusal = (code: string, words: string): unknown => expect.objectContaining({ code, message: expect.stringContaining(words) })

/** Succeeds or refuses; any other error fails the test. */
export function onlyRefuses(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    expect(isRefusal(error)).toBe(true)
  }
}
