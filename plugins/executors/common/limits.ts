/** The limits of an episode, from the section `sandbox` of the settings. */
import { invalid, type JsonObject } from '../../../src/contract/index.ts'

const MIB = 1024 * 1024

export interface EpisodeLimits {
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
} as const

export function readLimits({ sandbox = {} }: JsonObject): EpisodeLimits {
  if (typeof sandbox !== 'object' || sandbox === null || Array.isArray(sandbox))
    throw invalid('bad_setting', 'evolution.sandbox: must be a section of limits')
  const given = new Map(Object.entries(sandbox))
  const stray = [...given.keys()].find((name) => !Object.hasOwn(DEFAULTS, name))
  if (stray !== undefined) throw invalid('bad_setting', `evolution.sandbox: only ${Object.keys(DEFAULTS).join(', ')} are known`)
  const limit = (name: keyof typeof DEFAULTS): number => {
    const value = given.get(name) ?? DEFAULTS[name]
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
    throw invalid('bad_setting', `evolution.sandbox.${name}: must be a whole number above 0`)
  }
  return {
    memoryBytes: limit('memory_bytes'),
    processes: limit('processes'),
    diskBytes: limit('disk_bytes'),
    files: limit('files'),
  }
}
