/** The secrets that a configuration and its environment hold. */
import { addressesIn } from '../kit/index.ts'
import type { Environment } from './interpolate.ts'
import { ANY_NAME, listedKey } from './keys.ts'
import { valueOf } from './origins.ts'
import { textsIn } from './own-paths.ts'
import type { ValueOrigin } from './problem.ts'
import { SECRET_KEYS, type Config } from './schema.ts'
import type { ResolvedUpstream } from './upstream.ts'

interface Holder {
  readonly config: Config
  readonly origins: ReadonlyMap<string, ValueOrigin>
  readonly upstream: ResolvedUpstream
}

export function secretsIn({ config, origins, upstream }: Holder, environment: Environment): readonly (string | null | undefined)[] {
  const configured = [...origins.keys()].filter(isSecretKey).flatMap((key) => textsIn(valueOf(config, key)))
  const around = Object.entries(environment).flatMap(([name, value = '']) => (isNamedSecret(name) && isOneWord(value) ? [value] : []))
  const ofPlugins = [...origins.keys()].filter(isPluginSetting).flatMap((key) => secretsWithin(valueOf(config, key)))
  return [...configured, ...configured.flatMap(passwordsIn), ...ofPlugins, upstream.model?.apiKey, ...around]
}

const PLUGIN_SETTINGS: ReadonlySet<string> = new Set([`storage.record_settings.${ANY_NAME}`, `recording.redactor_settings.${ANY_NAME}`])
const isPluginSetting = (key: string): boolean => PLUGIN_SETTINGS.has(listedKey(key))

/** Only a plug-in knows its own settings, so a secret among them is known by its name. */
const isSecretKey = (key: string): boolean => SECRET_KEYS.has(listedKey(key)) || (isPluginSetting(key) && isNamedSecret(key))

/** A value as it may be shown. Sections of people and plug-ins hold what they like: environments, headers, addresses with a password. */
export function masked(key: string, value: unknown): unknown {
  if (value === null || !isSecretKey(key)) return maskedWithin(value)
  return Array.isArray(value) ? value.map(() => MASK) : MASK
}
const MASK = '***'

function maskedWithin(value: unknown): unknown {
  if (typeof value === 'string') return passwordsIn(value).length === 0 ? value : MASK
  if (Array.isArray(value)) return value.map(maskedWithin)
  if (typeof value !== 'object' || value === null) return value
  const shown = (name: string, member: unknown): unknown => (isNamedSecret(name) && member !== null ? MASK : maskedWithin(member))
  return Object.fromEntries(Object.entries(value).map(([name, member]): [string, unknown] => [name, shown(name, member)]))
}

/** The same secrets of a setting, as texts. */
function secretsWithin(value: unknown): readonly string[] {
  if (typeof value === 'string') return passwordsIn(value)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => (isNamedSecret(name) ? textsIn(member) : secretsWithin(member)))
}

/** As it is written in an address and as it is meant: messages may repeat either. */
function passwordsIn(text: string): readonly string[] {
  const password = (URL.canParse(text) ? new URL(text) : addressesIn(text)[0])?.password ?? ''
  return password === '' ? [] : [password, decoded(password)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const isNamedSecret = (name: string): boolean => /(?:key|token|secret|passw(?:or)?d|credentials?|authorization)$/i.test(name)

/** Paths of key files and whole documents are no secrets that a text could repeat. */
const isOneWord = (value: string): boolean => /^[^\s/{"][^\s{"]{7,511}$/.test(value)
