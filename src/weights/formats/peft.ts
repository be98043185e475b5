/** A LoRA adapter in a plain PEFT folder: read whole, and only when every weight in it can be used as it stands. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  ADAPTER_CONFIG_FILE,
  invalid,
  isObject,
  isRefusal,
  unsupported,
  type Json,
  type JsonObject,
  type Refusal,
} from '../../contract/index.ts'
import { readJsonObject, readWhole } from './files.ts'
import { readSafetensors } from './safetensors.ts'
import { floatsOf, type Tensor } from './tensor.ts'

export interface PeftAdapter {
  /** What it was trained on, as the trainer called it. */
  readonly baseModel: string
  readonly rank: number
  /** What the product of a pair is multiplied by before it is added to the base. */
  readonly scale: number
  readonly pairs: readonly LoraPair[]
}
export interface LoraPair {
  /** As the model names it: `model.layers.0.self_attn.q_proj`. */
  readonly module: string
  readonly inputs: number
  readonly outputs: number
  /** `rank` rows of `inputs`. */
  readonly a: Float32Array
  /** `outputs` rows of `rank`. */
  readonly b: Float32Array
}

export const ADAPTER_WEIGHTS = 'adapter_model.safetensors'

/** An adapter is held in memory whole. */
export const ADAPTER_BYTES_MAX = 2 ** 31 - 1
const RANK_MAX = 4096
const CODE = 'bad_adapter'
const TENSOR_NAME = /^base_model\.model\.(.+)\.lora_([AB])\.weight$/
/** Each of these changes what the pairs mean, or needs weights beside them. */
const BEYOND_PAIRS = [
  'use_dora',
  'bias',
  'lora_bias',
  'modules_to_save',
  'rank_pattern',
  'alpha_pattern',
  'fan_in_fan_out',
  'layer_replication',
  'trainable_token_indices',
  'target_parameters',
  'use_qalora',
  'alora_invocation_tokens',
]

export async function readAdapter(directory: string): Promise<PeftAdapter> {
  const { baseModel, rank, scale, covers } = settingsOf(await readJsonObject(join(directory, ADAPTER_CONFIG_FILE), CODE))
  const bytes = await readWhole(join(directory, ADAPTER_WEIGHTS), ADAPTER_BYTES_MAX, CODE)
  const tensors = reworded(
    () => readSafetensors(bytes),
    (message) => invalid(CODE, `${ADAPTER_WEIGHTS}: ${message}`),
  )
  const halves = halvesIn(tensors)
  const modules = [...halves.keys()].sort()
  if (modules.length === 0) throw invalid(CODE, `${ADAPTER_WEIGHTS} must hold at least one pair of lora_A and lora_B`)
  const pairs: LoraPair[] = []
  for (const module of modules) {
    if (!covers(module)) throw invalid(CODE, `${ADAPTER_WEIGHTS} holds ${JSON.stringify(module)}, which target_modules does not name`)
    pairs.push(pairOf(module, halves.get(module) ?? {}, rank))
    // Large adapters take a while to check; other work runs in between.
    await nextTurn()
  }
  return { baseModel, rank, scale, pairs }
}

/** PEFT also takes a pattern or nothing for the modules; engines take a list alone. */
export async function listTargets(directory: string, { pairs }: PeftAdapter): Promise<void> {
  const path = join(directory, ADAPTER_CONFIG_FILE)
  const config = await readJsonObject(path, CODE)
  if (Array.isArray(config['target_modules'])) return
  const targets = new Set(pairs.map(({ module }) => module.slice(module.lastIndexOf('.') + 1)))
  await writeFile(path, `${JSON.stringify({ ...config, target_modules: [...targets].sort() }, null, 2)}\n`)
}

function settingsOf(config: JsonObject) {
  const { peft_type, base_model_name_or_path: baseModel, r: rank, lora_alpha: alpha, target_modules: targets } = config
  if (typeof peft_type !== 'string') throw badConfig('peft_type', 'must be declared, as LORA')
  if (peft_type !== 'LORA') throw beyond('peft_type', 'LORA')
  for (const field of BEYOND_PAIRS) if (!isOff(config[field])) throw beyond(field, 'off')
  if (typeof baseModel !== 'string' || baseModel === '') throw badConfig('base_model_name_or_path', 'must name the base model')
  if (!isWhole(rank) || rank < 1 || rank > RANK_MAX) throw badConfig('r', `must be a whole number from 1 to ${RANK_MAX}`)
  // An alpha of 0 means 1 to some engines and nothing to others.
  if (typeof alpha !== 'number' || !(alpha > 0)) throw badConfig('lora_alpha', 'must be a number above 0')
  const scale = alpha / (config['use_rslora'] === true ? Math.sqrt(rank) : rank)
  return { baseModel, rank, scale, covers: coverage(targets) }
}

/** A list names the ends of modules. Everything else (nothing, a pattern, 'all-linear') leaves it to the weights. */
function coverage(targets: Json | undefined): (module: string) => boolean {
  if (targets === undefined || targets === null || (typeof targets === 'string' && targets !== '')) return () => true
  const isNames = Array.isArray(targets) && targets.every((name: Json) => typeof name === 'string')
  if (!isNames) throw badConfig('target_modules', 'must be a list of names, or a pattern')
  const names: readonly string[] = targets
  return (module) => names.some((name) => module === name || module.endsWith(`.${name}`))
}

/** A refusal of the work is thrown again with what it is about. */
function reworded<T>(work: () => T, about: (message: string) => Refusal): T {
  try {
    return work()
  } catch (error) {
    throw isRefusal(error) ? about(error.message) : error
  }
}

interface Halves {
  readonly A?: Tensor
  readonly B?: Tensor
}

function halvesIn(tensors: ReadonlyMap<string, Tensor>): ReadonlyMap<string, Halves> {
  const halves = new Map<string, Halves>()
  for (const [name, tensor] of tensors) {
    const [, module, side] = TENSOR_NAME.exec(name) ?? []
    if (module === undefined || side === undefined)
      throw badTensor(name, 'must be named base_model.model.<module>.lora_A.weight, or lora_B')
    halves.set(module, { ...halves.get(module), [side]: tensor })
  }
  return halves
}

function pairOf(module: string, { A, B }: Halves, rank: number): LoraPair {
  const name = (side: string): string => `base_model.model.${module}.lora_${side}.weight`
  if (A === undefined) throw badTensor(name('A'), 'is missing beside its lora_B')
  if (B === undefined) throw badTensor(name('B'), 'is missing beside its lora_A')
  const [rows, inputs, ...deeperA] = A.shape
  const [outputs, columns, ...deeperB] = B.shape
  if (rows !== rank || inputs === undefined || inputs === 0 || deeperA.length > 0)
    throw badTensor(name('A'), `must have the shape [${rank}, inputs], by r of ${ADAPTER_CONFIG_FILE}`)
  if (columns !== rank || outputs === undefined || outputs === 0 || deeperB.length > 0)
    throw badTensor(name('B'), `must have the shape [outputs, ${rank}], by r of ${ADAPTER_CONFIG_FILE}`)
  return { module, inputs, outputs, a: finite(name('A'), A), b: finite(name('B'), B) }
}

function finite(name: string, tensor: Tensor): Float32Array {
  const floats = reworded(
    () => floatsOf(tensor),
    (message) => badTensor(name, message),
  )
  for (const value of floats) if (!Number.isFinite(value)) throw badTensor(name, 'must hold finite numbers alone')
  return floats
}

/** As PEFT writes what an adapter does without. */
function isOff(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === 'none') return true
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0
}

const isWhole = (value: Json | undefined): value is number => Number.isSafeInteger(value)
const badTensor = (name: string, rule: string): Refusal => invalid(CODE, `tensor ${JSON.stringify(name)} of ${ADAPTER_WEIGHTS}: ${rule}`)
const badConfig = (field: string, rule: string): Refusal => invalid(CODE, `${field} of ${ADAPTER_CONFIG_FILE} ${rule}`)
const beyond = (field: string, only: string): Refusal =>
  unsupported(
    'unsupported_adapter',
    `${field} of ${ADAPTER_CONFIG_FILE} must be ${only}: only plain LoRA pairs can be served; train without it`,
  )
