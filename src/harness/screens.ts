/** What no entry may hold: texts that cannot be stored, credentials, and code that would write over a person's terminal. */
import { isObject, JSON_DEPTH_MAX, type Json, type JsonObject } from '../contract/index.ts'
import { firstCodePoints, screenText } from '../kit/index.ts'

const PATH_CHARACTERS_SHOWN_MAX = 200

/** Without recursion, since it comes before everything that recurses. */
export function isTooDeep(value: Json): boolean {
  let level: readonly Json[] = [value]
  for (let depth = 0; depth <= JSON_DEPTH_MAX && level.length > 0; depth += 1) level = level.flatMap(membersOf)
  return level.length > 0
}

function membersOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value
  return isObject(value) ? Object.values(value) : []
}

/** The first text that is no valid Unicode, or is shaped like a key that a vendor hands out. Names of fields are texts too. */
export function textProblem(value: Json, path: string): string | null {
  for (const [at, text] of textsIn(value, path)) {
    if (!text.isWellFormed()) return `${shown(at)} holds half a surrogate pair; send valid Unicode`
    if (isCredential(text)) return `${shown(at)} holds what looks like a credential; take it out, and rotate it if it is real`
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

/** A field of this name holds a secret, or the name of a variable that does: both are a matter of the machine, not of the tree. */
const SECRET_FIELD = /(?:(?:key|token|secret|password)s?|keys?[_-]?env)$/i
/** Such as the most tokens of an answer. */
const NUMBER = /^\s*\d+(?:\.\d+)?\s*$/

/** The first field that is named like a secret and holds a literal. */
export function secretField(data: JsonObject, path: string): string | null {
  const at = secretBelow(data, path)
  return at === null ? null : `${shown(at)} is named like a secret and holds a literal; leave it out: credentials are no part of a tree`
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

/** In a session with a user interface the agent owns the terminal; a line that writes to it must stand under a look at `hasUI`. */
export function consoleProblem(code: string, path: string): string | null {
  const lines = code.split(/\r?\n/)
  const at = lines.findIndex((line, index) => CONSOLE.test(line) && !isGuarded(lines, index))
  return at === -1 ? null : `${path} writes to the console in line ${at + 1}; ask for hasUI in that line or the one before, or take it out`
}

function isGuarded(lines: readonly string[], index: number): boolean {
  const before = lines.slice(0, index).findLast((line) => line.trim() !== '')
  return [before, lines[index]].some((line) => line?.includes('hasUI') === true)
}
