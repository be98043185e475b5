/** The settings of a runtime whose engine is called over HTTP, and checks for those of every runtime. */
import { invalid, type JsonObject } from '../../../src/contract/index.ts'

export type EngineSettings = ReturnType<typeof readEngineSettings>

const KNOWN = ['url', 'model', 'api_key', 'capacity', 'adapter_prefix', 'max_lora_rank', 'vocabulary', 'timeout_s']
const CAPACITY_DEFAULT = 4
const CAPACITY_MAX = 10_000
const RANK_MAX = 4096
const TIMEOUT_SECONDS_DEFAULT = 300
const TIMEOUT_SECONDS_MAX = 86_400
/** Engines keep ids in 32 bits. */
const VOCABULARY_MAX = 2 ** 31 - 1

export function readEngineSettings(engine: string, config: JsonObject) {
  refuseUnknown(engine, config, KNOWN)
  return {
    /** Where the engine listens, without /v1. */
    url: urlIn(engine, config),
    /** The engine's name for its base; null takes the only one. */
    model: textIn(config, 'model'),
    apiKey: textIn(config, 'api_key'),
    /** How many adapters the engine was started to hold at once. */
    capacity: countIn(config, 'capacity', CAPACITY_MAX) ?? CAPACITY_DEFAULT,
    /** What the names of this service's adapters begin with; null: the engine is this service's alone. */
    adapterPrefix: textIn(config, 'adapter_prefix'),
    /** The rank it was started for, for engines that do not tell. */
    rankMax: countIn(config, 'max_lora_rank', RANK_MAX),
    /** How many token ids the model has; engines do not report it. */
    vocabulary: countIn(config, 'vocabulary', VOCABULARY_MAX) ?? VOCABULARY_MAX,
    timeoutSeconds: secondsIn(config),
  }
}

function urlIn(engine: string, config: JsonObject): string {
  const url = config['url']
  const read = typeof url === 'string' ? URL.parse(url) : null
  if (typeof url !== 'string' || read === null || !/^https?:$/.test(read.protocol))
    throw invalid('bad_setting', `url must be the http or https address that ${engine} listens on, without /v1`)
  if (read.username !== '' || read.password !== '') throw invalid('bad_setting', 'url must hold no password; the key goes into api_key')
  if (/\/v1\/*$/.test(read.pathname)) throw invalid('bad_setting', 'url must end before /v1: adapters are loaded beside it')
  if (read.search !== '' || read.hash !== '') throw invalid('bad_setting', 'url must end with its path: no ? and no #')
  return url
}

function textIn(config: JsonObject, key: string): string | null {
  const value = config[key] ?? null
  if (value !== null && (typeof value !== 'string' || value === '')) throw invalid('bad_setting', `${key} must be a text that is not empty`)
  return value
}

export function countIn(config: JsonObject, key: string, most: number): number | null {
  const value = config[key] ?? null
  if (value === null) return null
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > most)
    throw invalid('bad_setting', `${key} must be a whole number from 1 to ${most}`)
  return value
}

export function numberIn(config: JsonObject, key: string, normally: number, most: number): number {
  const value = config[key] ?? normally
  if (typeof value !== 'number' || !(value >= 0 && value <= most)) throw invalid('bad_setting', `${key} must be a number from 0 to ${most}`)
  return value
}

export function refuseUnknown(runtime: string, config: JsonObject, known: readonly string[]): void {
  const stray = Object.keys(config).find((key) => !known.includes(key))
  if (stray !== undefined)
    throw invalid('unknown_setting', `the ${runtime} runtime knows no setting "${stray}"; it knows ${known.join(', ')}`)
}

function secondsIn(config: JsonObject): number {
  const value = config['timeout_s'] ?? TIMEOUT_SECONDS_DEFAULT
  if (typeof value !== 'number' || !(value > 0 && value <= TIMEOUT_SECONDS_MAX))
    throw invalid('bad_setting', `timeout_s must be a number above 0, up to ${TIMEOUT_SECONDS_MAX}`)
  return value
}
