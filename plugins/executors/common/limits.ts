/** The limits of an episode, from the section `sandbox` of the settings. */
import { invalid, type JsonObject } from '../../../src/contract/index.ts'

const MIB = 1024 * 1024

/** What an episode may ask of the model; a cost of 0 is no limit. */
export interface ModelLimits {
  readonly calls: number
  readonly tokens: number
  readonly cost: number
  /** Per million tokens. */
  readonly inputPrice: number
  readonly outputPrice: number
}

export interface EpisodeLimits {
  readonly model: ModelLimits
  readonly memoryBytes: number
  readonly processes: number
  readonly diskBytes: number
  readonly files: number
}

/** Names as the settings spell them. */
const DEFAULTS = {
  memory_bytes: 2048 * MIB,
  processes: 256,
  disk_bytes: 512 * MIB,
  files: 20_000,
  model_calls: 500,
  model_tokens: 20_000_000,
  model_cost: 0,
  input_price: 0,
  output_price: 0,
} as const
const MONEY: ReadonlySet<string> = new Set(['model_cost', 'input_price', 'output_price'])

export function readLimits({ sandbox = {} }: JsonObject): EpisodeLimits {
  if (typeof sandbox !== 'object' || sandbox === null || Array.isArray(sandbox))
    throw invalid('bad_setting', 'evolution.sandbox: must be a section of limits')
  const given = new Map(Object.entries(sandbox))
  const stray = [...given.keys()].find((name) => !Object.hasOwn(DEFAULTS, name))
  if (stray !== undefined) throw invalid('bad_setting', `evolution.sandbox: only ${Object.keys(DEFAULTS).join(', ')} are known`)
  const limit = (name: keyof typeof DEFAULTS): number => {
    const value = given.get(name) ?? DEFAULTS[name]
    if (MONEY.has(name) && typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
    const rule = MONEY.has(name) ? 'must be a number of at least 0' : 'must be a whole number above 0'
    throw invalid('bad_setting', `evolution.sandbox.${name}: ${rule}`)
  }
  return {
    memoryBytes: limit('memory_bytes'),
    processes: limit('processes'),
    diskBytes: limit('disk_bytes'),
    files: limit('files'),
    model: {
      calls: limit('model_calls'),
      tokens: limit('model_tokens'),
      cost: limit('model_cost'),
      inputPrice: limit('input_price'),
      outputPrice: limit('output_price'),
    },
  }
}
