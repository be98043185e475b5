/** What a configuration that was read again changes: what is in force at once, and what needs a restart. */
import { isDeepStrictEqual } from 'node:util'
import { isOpenToAll } from './checks.ts'
import type { LoadedConfig } from './load.ts'
import { ConfigProblem } from './problem.ts'
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

/** Throws ConfigProblem where the two together would leave the service open, though each of them does not. */
export function reloadConfig(now: LoadedConfig, next: LoadedConfig): ReloadedConfig {
  const changed = changedKeys(now.config, next.config)
  const isTlsLive = haveSameFiles(now.config.svc.tls, next.config.svc.tls)
  const isLive = (key: string): boolean => LIVE_KEYS.includes(key) && (key !== 'svc.tls' || isTlsLive)
  const { svc, inference, storage } = now.config
  const config: Config = {
    ...now.config,
    svc: { ...svc, ...picked(next.config.svc, LIVE.svc), ...(!isTlsLive && { tls: svc.tls }) },
    inference: { ...inference, ...picked(next.config.inference, LIVE.inference) },
    storage: { ...storage, ...picked(next.config.storage, LIVE.storage) },
  }
  if (isOpenToAll(config.svc))
    throw new ConfigProblem([
      `svc.host stays ${config.svc.host} until a restart, which is open to other machines, and no token is set any more; keep svc.token until then`,
    ])
  return { loaded: { ...now, config }, applied: changed.filter(isLive), needsRestart: changed.filter((key) => !isLive(key)) }
}

/**
 * A port that speaks HTTP does not begin to speak https, nor the other way round. Files of other names need a restart too: which files no
 * episode may see is settled at the start.
 */
function haveSameFiles(now: Config['svc']['tls'], next: Config['svc']['tls']): boolean {
  return now !== null && next !== null && now.certificate === next.certificate && now.key === next.key
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
