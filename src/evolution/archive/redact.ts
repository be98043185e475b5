/** Removes credentials from the data of a step and cuts long texts. */
import { isObject, JSON_DEPTH_MAX, type Json } from '../../contract/index.ts'
import { countCodePoints, firstCodePoints, screenText } from '../../kit/index.ts'

const TEXT_CHARACTERS_MAX = 20_000
const REDACTED = '[redacted]'
const TOO_DEEP = `[nested more than ${JSON_DEPTH_MAX} levels deep]`

/** A copy of the value with every text redacted, field names included. `secrets` are removed wherever they occur. */
export function redacted(value: Json, secrets: readonly string[]): Json {
  const known = secrets.filter((secret) => secret !== '')
  const text = (raw: string): string => cut(withoutCredentials(known.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), raw)))
  return walk(value, text, 0)
}

/** Agents may write JSON of any depth. */
function walk(value: Json, text: (raw: string) => string, depth: number): Json {
  if (typeof value === 'string') return text(value)
  if (depth >= JSON_DEPTH_MAX && typeof value === 'object' && value !== null) return TOO_DEEP
  if (Array.isArray(value)) return value.map((item: Json) => walk(item, text, depth + 1))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [text(key), walk(member, text, depth + 1)]))
}

const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g
const WORD = /[^\s"'`,;:=()<>{}[\]\\]+/g

/** Redacts word by word, so that the rest stays readable; drops the whole text if a credential is still found after that. */
function withoutCredentials(text: string): string {
  if (!holdsCredential(text)) return text
  const rest = text.replaceAll(PRIVATE_KEY, REDACTED).replaceAll(WORD, (word) => (holdsCredential(word) ? REDACTED : word))
  return holdsCredential(rest) ? REDACTED : rest
}

const holdsCredential = (text: string): boolean => screenText(text) === 'credential_in_text'

/** Runs after redaction: half a credential at the cut would not be recognised. */
function cut(text: string): string {
  if (text.length <= TEXT_CHARACTERS_MAX) return text
  const first = firstCodePoints(text, TEXT_CHARACTERS_MAX)
  const dropped = countCodePoints(text) - countCodePoints(first)
  return dropped === 0 ? text : `${first} [${dropped} characters dropped]`
}
