/** What a configuration that was read again changes: what is in force at once, and what needs a restart. */
import { isDeepStrictEqual } from 'node:util'
import type { LoadedConfig } from './load.ts'
import type { Config } from './schema.ts'

/** The keys that a running service takes over. Every other one needs a restart. */
const LIVE = {
  svc: ['tls', 'token', 'tokens', 'allow_implicit_scenario_creation', 'max_loaded_scenarios', 'console_origins'],
  inference: ['retry_timeout_s', 'max_answer_bytes'],
  storage: ['keep_raw_streams'],
} as const satisfies { readonly [Section in keyof Config]?: readonly (keyof Config[Section])[] }

/** As the reference names them. */
export const LIVE_KEYS: readonly string[] = Object.entries(LIVE).flatMap(([section, names]) => names.map((name) => `${section}.${name}`))

export interface ReloadedConfig {
  /** The values in force from now on: those of before, with what a running service takes over. */
  readonly loaded: LoadedConfig
  readonly applied: readonly string[]
  readonly needsRestart: readonly string[]
}

export function reloadConfig(now: LoadedConfig, next: LoadedConfig): ReloadedConfig {
  const changed = changedKeys(now.config, next.config)
  // A port that speaks HTTP does not begin to speak https, nor the other way round.
  const isTlsLive = now.config.svc.tls !== null && next.config.svc.tls !== null
  const isLive = (key: string): boolean => LIVE_KEYS.includes(key) && (key !== 'svc.tls' || isTlsLive)
  const { svc, inference, storage } = now.config
  const config: Config = {
    ...now.config,
    svc: { ...svc, ...picked(next.config.svc, LIVE.svc), ...(!isTlsLive && { tls: svc.tls }) },
    inference: { ...inference, ...picked(next.config.inference, LIVE.inference) },
    storage: { ...storage, ...picked(next.config.storage, LIVE.storage) },
  }
  return { loaded: { ...now, config }, applied: changed.filter(isLive), needsRestart: changed.filter((key) => !isLive(key)) }
}

/** `section.key`, for recipes `recipes.name`. */
function changedKeys(now: Config, next: Config): readonly string[] {
  const [before, after] = [membersOf(now), membersOf(next)]
  const keys = [...new Set([...before.keys(), ...after.keys()])]
  return keys.filter((key) => !isDeepStrictEqual(before.get(key), after.get(key)))
}

function membersOf(config: Config): ReadonlyMap<string, unknown> {
  const sections = Object.entries(config).map(([name, value]): readonly (readonly [string, unknown])[] =>
    typeof value === 'string' ? [[name, value]] : Object.entries(value).map(([key, each]) => [`${name}.${key}`, each]),
  )
  return new Map(sections.flat())
}

function picked<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Partial<Pick<T, K>> {
  const values: Partial<Pick<T, K>> = {}
  for (const key of keys) values[key] = from[key]
  return values
}
