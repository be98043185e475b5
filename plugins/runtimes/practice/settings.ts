/** The practice runtime's own settings. */
import type { JsonObject } from '../../../src/contract/index.ts'
import { invalid } from '../../../src/contract/index.ts'

export interface Settings {
  /** How often a lesson the model was taught is not heeded, from 0 to 1. */
  readonly noise: number
  /** How long a stream waits after each event. */
  readonly chunkDelayMs: number
}

const NOISE_DEFAULT = 0.1
const CHUNK_DELAY_MS_MAX = 60_000
const KNOWN = ['noise', 'chunk_delay_ms']

export function readSettings(config: JsonObject): Settings {
  const stray = Object.keys(config).find((key) => !KNOWN.includes(key))
  if (stray !== undefined)
    throw invalid('unknown_setting', `the practice runtime knows no setting "${stray}"; it knows ${KNOWN.join(' and ')}`)
  return {
    noise: numberIn(config, 'noise', NOISE_DEFAULT, 1),
    chunkDelayMs: numberIn(config, 'chunk_delay_ms', 0, CHUNK_DELAY_MS_MAX),
  }
}

function numberIn(config: JsonObject, key: string, normally: number, most: number): number {
  const value = config[key] ?? normally
  if (typeof value !== 'number' || !(value >= 0 && value <= most)) throw invalid('bad_setting', `${key} must be a number from 0 to ${most}`)
  return value
}
