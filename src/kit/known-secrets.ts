/** The secrets that this process holds: known from the moment they are read, and taken out of every text that leaves it. */
import { KeyParts } from './known-key.ts'

/** Short values and single words stand for no key (`none`, `EMPTY`, `inference`), and occur in any text: a gap there would tell what it was. */
const NO_SECRET = /^(?:[^]{0,7}|[A-Za-z]{8,11})$/
/** Fewer characters of a secret occur in ordinary words: a token may be made of some. */
const PART = 12
const REDACTED = '[redacted]'
/** Beyond these the older half of the passing ones is forgotten. */
const PASSING_MAX = 1000
/** The same of clients' own, of which anybody may send as many as they like. */
const CLIENTS_MAX = 100

/** A process has one standard error and one log, so it has one list. */
let lasting = listOf([])
let passing = listOf([])
let clients = new Set<string>()

/** Those of the configuration: never forgotten. */
export function knowSecrets(secrets: readonly (string | null | undefined)[]): void {
  for (const secret of secrets) add(lasting, secret)
}

/** Those that come and go with a scenario or an episode, and may be any number. */
export function knowPassingSecret(secret: string | null | undefined): void {
  if (passing.secrets.size >= PASSING_MAX) passing = listOf([...passing.secrets].slice(PASSING_MAX / 2))
  if (typeof secret === 'string' && !lasting.secrets.has(secret)) add(passing, secret)
}

/** A client's own, which it sent to be passed on. The thread that it was sent to alone speaks of it. Such push out none but each other, and are taken out whole: the parts of a made-up one may be words of the log. */
export function knowClientSecret(secret: string): void {
  if (clients.has(secret)) return
  if (clients.size >= CLIENTS_MAX) clients = new Set([...clients].slice(CLIENTS_MAX / 2))
  clients.add(secret)
}

/** For a test file after others in one process: their tokens are words of its texts. */
export function forgetSecrets(): void {
  lasting = listOf([])
  passing = listOf([])
  clients = new Set()
}

interface SecretList {
  readonly secrets: Set<string>
  readonly parts: KeyParts
}

function listOf(secrets: readonly string[]): SecretList {
  const list = { secrets: new Set<string>(), parts: new KeyParts(PART) }
  for (const secret of secrets) add(list, secret)
  return list
}

function add({ secrets, parts }: SecretList, secret: string | null | undefined): void {
  if (typeof secret !== 'string' || NO_SECRET.test(secret) || secrets.has(secret)) return
  secrets.add(secret)
  parts.add(secret)
  for (const listener of followers) listener(secret)
}

const followers = new Set<(secret: string) => void>()

/** Calls the listener with every secret from now on, for threads that run already. Answers how to stop. */
export function followSecrets(listener: (secret: string) => void): () => void {
  followers.add(listener)
  return () => void followers.delete(listener)
}

/** For another thread of this process, which has a list of its own. */
export const knownSecrets = (): readonly string[] => [...lasting.secrets, ...passing.secrets]

export function withoutKnownSecrets(text: string): string {
  let rest = text
  for (const { secrets, parts } of [lasting, passing]) if (secrets.size > 0) rest = parts.without(rest)
  for (const secret of clients) rest = rest.replaceAll(secret, REDACTED)
  return rest
}

/** A copy of plain data without them, names of fields included. */
export function dataWithoutKnownSecrets<T>(data: T): T {
  if (lasting.secrets.size + passing.secrets.size + clients.size === 0) return data
  const copy: T = JSON.parse(JSON.stringify(data), (_, value: unknown) => {
    if (typeof value === 'string') return withoutKnownSecrets(value)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [withoutKnownSecrets(name), member]))
  })
  return copy
}
