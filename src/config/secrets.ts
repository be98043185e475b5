/** The secrets that a configuration and its environment hold. */
import type { Environment } from './interpolate.ts'
import { ANY_NAME, listedKey } from './keys.ts'
import { valueOf } from './origins.ts'
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
  return [...configured, ...configured.flatMap(passwordsIn), upstream.model?.apiKey, ...around]
}

/** Only a store knows its own settings, so a secret among them is known by its name. */
export function isSecretKey(key: string): boolean {
  const listed = listedKey(key)
  return SECRET_KEYS.has(listed) || (listed === `storage.record_settings.${ANY_NAME}` && isNamedSecret(key))
}

/** As it is written in an address and as it is meant: messages may repeat either. */
function passwordsIn(text: string): readonly string[] {
  const password = URL.canParse(text) ? new URL(text).password : ''
  return password === '' ? [] : [password, decoded(password)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const textsIn = (value: unknown): readonly string[] => [value].flat().filter((each) => typeof each === 'string')

const isNamedSecret = (name: string): boolean => /(?:key|token|secret|passw(?:or)?d|credentials?)$/i.test(name)

/** Paths of key files and whole documents are no secrets that a text could repeat. */
const isOneWord = (value: string): boolean => /^[^\s/{"][^\s{"]{7,511}$/.test(value)
