/** The secrets that this process holds: known from the moment they are read, and taken out of every text that leaves it. */
import { partsRemover } from './known-key.ts'

/** Shorter values stand for no key (`none`, `EMPTY`), and occur in any text. */
const CHARACTERS_MIN = 8
/** Fewer characters of a secret occur in ordinary words: a token may be made of some. */
const PART = 12
/** The newest stay. */
const SECRETS_MAX = 10_000

/** A process has one standard error and one log, so it has one list. */
const known = new Set<string>()
let remove: ((text: string) => string) | null = null

export function knowSecrets(secrets: readonly (string | null | undefined)[]): void {
  for (const secret of secrets) {
    if (typeof secret !== 'string' || secret.length < CHARACTERS_MIN || known.has(secret)) continue
    known.add(secret)
    remove = null
  }
  for (const oldest of known) {
    if (known.size <= SECRETS_MAX) break
    known.delete(oldest)
  }
}

/** For another thread of this process, which has a list of its own. */
export const knownSecrets = (): readonly string[] => [...known]

export function withoutKnownSecrets(text: string): string {
  if (known.size === 0) return text
  remove ??= partsRemover([...known], PART)
  return remove(text)
}

/** A copy of plain data without them, names of fields included. */
export function dataWithoutKnownSecrets<T>(data: T): T {
  if (known.size === 0) return data
  const copy: T = JSON.parse(JSON.stringify(data), (_, value: unknown) => {
    if (typeof value === 'string') return withoutKnownSecrets(value)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [withoutKnownSecrets(name), member]))
  })
  return copy
}
