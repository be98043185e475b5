/** What a configuration that was read again changes: what is in force at once, and what needs a restart. */
import { isDeepStrictEqual } from 'node:util'
import { isOpenToAll, weakTokenKey } from './checks.ts'
import type { LoadedConfig } from './load.ts'
import { textsIn } from './own-paths.ts'
import { ConfigProblem } from './problem.ts'
import type { Config } from './schema.ts'
import { WEAK_TOKEN_RULE } from './weak-token.ts'

/** The keys that a running service takes over. Every other one needs a restart. */
const LIVE = {
  svc: ['tls', 'token', 'tokens', 'allow_implicit_scenario_creation', 'max_loaded_scenarios', 'console_origins'],
  inference: [
    'retry_timeout_s',
    'max_answer_bytes',
    'upstreams',
    'upstream_retries',
    'breaker',
    'upstream_url',
    'upstream_api_key',
    'upstream_model',
    'upstream_api',
    'upstream_formats',
    'client_key_origins',
    'allow_inside',
    'timeout_s',
  ],
  limits: ['token', 'tokens', 'scenario', 'scenarios', 'upstream', 'prices'],
  storage: ['keep_raw_streams'],
  recording: ['mode', 'scenarios'],
} as const satisfies { readonly [Section in keyof Config]?: readonly (keyof Config[Section])[] }

/** Its members are names. */
const WEBHOOKS = 'webhooks'

/** As the reference names them. */
export const LIVE_KEYS: readonly string[] = [
  ...Object.entries(LIVE).flatMap(([section, names]) => names.map((name) => `${section}.${name}`)),
  `${WEBHOOKS}.<name>`,
]

/** What the runtime is made of: live where one provider runtime takes the place of another. */
const UPSTREAM_KEYS: ReadonlySet<string> = new Set<`inference.${(typeof LIVE)['inference'][number]}`>([
  'inference.upstreams',
  'inference.upstream_retries',
  'inference.breaker',
  'inference.upstream_url',
  'inference.upstream_api_key',
  'inference.upstream_model',
  'inference.upstream_api',
  'inference.upstream_formats',
  'inference.client_key_origins',
  'inference.allow_inside',
  'inference.timeout_s',
])

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
  const areUpstreamsLive = canTakeUpstreams(now, next)
  const isLive = (key: string): boolean => {
    if (key === 'svc.tls') return isTlsLive
    if (UPSTREAM_KEYS.has(key)) return areUpstreamsLive
    return key.startsWith(`${WEBHOOKS}.`) || LIVE_KEYS.includes(key)
  }
  const live = new Set(changed.filter(isLive))
  const config: Config = {
    ...now.config,
    svc: { ...now.config.svc, ...picked(next.config.svc, LIVE.svc, 'svc', live) },
    inference: { ...now.config.inference, ...picked(next.config.inference, LIVE.inference, 'inference', live) },
    limits: { ...now.config.limits, ...picked(next.config.limits, LIVE.limits, 'limits', live) },
    storage: { ...now.config.storage, ...picked(next.config.storage, LIVE.storage, 'storage', live) },
    recording: { ...now.config.recording, ...picked(next.config.recording, LIVE.recording, 'recording', live) },
    webhooks: next.config.webhooks,
  }
  if (isOpenToAll(config.svc))
    throw new ConfigProblem([
      `svc.host stays ${config.svc.host} until a restart, which is open to other machines, and no token is set any more; keep svc.token until then`,
    ])
  const weak = weakTokenKey(config.svc)
  if (weak !== null)
    throw new ConfigProblem([
      `svc.host stays ${config.svc.host} until a restart, which is open to other machines, and ${weak} is easily guessed: a token needs ${WEAK_TOKEN_RULE}; set one that openssl rand -hex 32 prints`,
    ])
  const upstream = areUpstreamsLive ? next.upstream : now.upstream
  return { loaded: { ...now, config, upstream }, applied: [...live], needsRestart: changed.filter((key) => !live.has(key)) }
}

/**
 * A port that speaks HTTP does not begin to speak https, nor the other way round. Files of other names need a restart too: which files no
 * episode may see is settled at the start.
 */
function haveSameFiles(now: Config['svc']['tls'], next: Config['svc']['tls']): boolean {
  return now !== null && next !== null && now.certificate === next.certificate && now.key === next.key
}

/** Another runtime needs a restart, and so does a TLS file that episodes are not kept from yet, or a gateway that waits by `timeout_s`. */
function canTakeUpstreams(now: LoadedConfig, next: LoadedConfig): boolean {
  if (now.upstream.runtime !== 'provider' || next.upstream.runtime !== 'provider') return false
  if (now.config.inference.gateway !== null && now.config.inference.timeout_s !== next.config.inference.timeout_s) return false
  const hidden = new Set(tlsFiles(now))
  return tlsFiles(next).every((file) => hidden.has(file))
}

const tlsFiles = ({ config: { inference } }: LoadedConfig): readonly string[] =>
  Object.values(inference.upstreams).flatMap(({ tls: { ca_file, cert_file, key_file } }) => textsIn([ca_file, cert_file, key_file]))

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

function picked<T extends object, K extends keyof T & string>(
  from: T,
  keys: readonly K[],
  section: string,
  live: ReadonlySet<string>,
): Partial<Pick<T, K>> {
  const values: Partial<Pick<T, K>> = {}
  for (const key of keys) if (live.has(`${section}.${key}`)) values[key] = from[key]
  return values
}
