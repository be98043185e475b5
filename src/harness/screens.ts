/** Checks entries for invalid Unicode, credentials, and code that writes to the terminal. */
import { isObject, type Json, type JsonObject } from '../contract/index.ts'
import { firstCodePoints, screenText } from '../kit/index.ts'

const PATH_CHARACTERS_SHOWN_MAX = 200

/** The first text, field names included, that is invalid Unicode or looks like a vendor's key. */
export function textProblem(value: Json, path: string, looksLikeKey: (text: string) => boolean): string | null {
  for (const [at, text] of textsIn(value, path)) {
    if (!text.isWellFormed()) return `${shown(at)} holds half a surrogate pair; send valid Unicode`
    if (looksLikeKey(text)) return `${shown(at)} holds what looks like a credential; take it out, and rotate it if it is real`
  }
  return null
}

export const isCredential = (text: string): boolean => screenText(text) === 'credential_in_text'

function* textsIn(value: Json, path: string): Generator<readonly [path: string, text: string]> {
  if (typeof value === 'string') yield [path, value]
  for (const [key, member] of fieldsOf(value)) {
    if (isObject(value)) yield [path, key]
    yield* textsIn(member, below(value, path, key))
  }
}

const fieldsOf = (value: Json): readonly [string, Json][] => (typeof value === 'object' && value !== null ? Object.entries(value) : [])

const below = (value: Json, path: string, key: string): string => (Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`)

/** Fields that hold a secret or the name of its variable: both belong to the machine, not to the tree. */
const SECRET_FIELD = /(?:(?:key|token|secret|password)s?|keys?[_-]?env)$/i
/** Such as `max_tokens`. */
const NUMBER = /^\s*\d+(?:\.\d+)?\s*$/

export function secretField(data: JsonObject, path: string): string | null {
  const at = secretBelow(data, path)
  return at === null ? null : `${shown(at)} is named like a secret and holds a literal; leave it out: credentials do not belong in a tree`
}

function secretBelow(value: Json, path: string): string | null {
  for (const [key, member] of fieldsOf(value)) {
    const at = below(value, path, key)
    if (isObject(value) && SECRET_FIELD.test(key) && holdsLiteral(member)) return at
    const deeper = secretBelow(member, at)
    if (deeper !== null) return deeper
  }
  return null
}

function holdsLiteral(value: Json): boolean {
  if (typeof value === 'string') return value.trim() !== '' && !NUMBER.test(value)
  return Array.isArray(value) && value.some(holdsLiteral)
}

const shown = (path: string): string =>
  path.length > PATH_CHARACTERS_SHOWN_MAX ? `${firstCodePoints(path, PATH_CHARACTERS_SHOWN_MAX)}…` : path

const CONSOLE =
  /\bconsole\s*\??\.\s*(?:log|error|warn|info|debug|trace|dir|table|group|groupEnd|time|timeEnd|count|assert)\s*\(|\bprocess\s*\.\s*(?:stdout|stderr)\s*\.\s*write\b/

/** In an interactive session the agent owns the terminal; code that writes to it must check `hasUI` first. */
export function consoleProblem(code: string, path: string): string | null {
  const lines = code.split(/\r?\n/)
  let before = ''
  const at = lines.findIndex((line) => {
    const isUnguarded = CONSOLE.test(line) && !line.includes('hasUI') && !before.includes('hasUI')
    if (line.trim() !== '') before = line
    return isUnguarded
  })
  return at === -1 ? null : `${path} writes to the console in line ${at + 1}; check hasUI in that line or the one before, or remove it`
}
