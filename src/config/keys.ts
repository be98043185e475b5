/** The schema as a list of keys: which exist, which kind of value each takes, and how spellings map to keys. */
import * as z from 'zod'
import { nearest } from './nearest.ts'
import { schema } from './schema.ts'

export type ValueKind = 'text' | 'number' | 'flag' | 'list' | 'json'

export interface Key {
  readonly key: string
  readonly kind: ValueKind
  readonly description: string
  readonly default: unknown
  readonly type: z.core.$ZodType
}

/** Stands for a user-chosen name in a key's path. */
export const ANY_NAME = '<name>'

/** Every key of the schema in its order; recipes and headers appear under the name `<name>`. */
export function allKeys(): readonly Key[] {
  listed ??= keysUnder(schema, [])
  return listed
}
let listed: readonly Key[] | undefined

function keysUnder(type: z.core.$ZodType, path: readonly string[]): readonly Key[] {
  const bare = unwrap(type)
  if (bare instanceof z.ZodObject) return Object.entries(bare.shape).flatMap(([name, member]) => keysUnder(member, [...path, name]))
  if (bare instanceof z.ZodRecord) return keysUnder(bare.valueType, [...path, ANY_NAME])
  return [{ key: path.join('.'), kind: kindOf(bare), description: descriptionOf(type), default: defaultOf(type), type: bare }]
}

export function typeAt(path: readonly string[]): z.core.$ZodType | null {
  let type: z.core.$ZodType = schema
  for (const name of path) {
    const next = memberOf(type, name)
    if (next === null) return null
    type = next
  }
  return type
}

/** The names in a section; null for a value, and for a section with user-chosen names. */
export function namesAt(path: readonly string[]): readonly string[] | null {
  const type = typeAt(path)
  const bare = type === null ? null : unwrap(type)
  return bare instanceof z.ZodObject ? Object.keys(bare.shape) : null
}

export function isSection(path: readonly string[]): boolean {
  const type = typeAt(path)
  const bare = type === null ? null : unwrap(type)
  return bare instanceof z.ZodObject || bare instanceof z.ZodRecord
}

export function kindAt(path: readonly string[]): ValueKind | null {
  const type = typeAt(path)
  return type === null || isSection(path) ? null : kindOf(unwrap(type))
}

/** Whether null is a value of the key, different from leaving it out. */
export function takesNull(path: readonly string[]): boolean {
  const type = typeAt(path)
  return type instanceof z.ZodDefault && type.unwrap() instanceof z.ZodNullable && type.def.defaultValue !== null
}

export function isOwnName(path: readonly string[]): boolean {
  const under = path.slice(0, -1)
  return isSection(under) && namesAt(under) === null
}

/** The key as the schema lists it, with `<name>` for user-chosen names. */
export function listedKey(key: string): string {
  let type: z.core.$ZodType | null = schema
  const path = key.split('.').map((name) => {
    const isOwn = type !== null && unwrap(type) instanceof z.ZodRecord
    type = type === null ? null : memberOf(type, name)
    return isOwn ? ANY_NAME : name
  })
  return path.join('.')
}

/** Hyphens and underscores are equal in keys, but not in user-chosen names. */
export function spelling(under: readonly string[], name: string): string {
  return isOwnName([...under, name]) ? name : name.replaceAll('-', '_')
}

export function descriptionOf(type: z.core.$ZodType): string {
  return z.globalRegistry.get(type)?.description ?? ''
}

function memberOf(type: z.core.$ZodType, name: string): z.core.$ZodType | null {
  const bare = unwrap(type)
  if (bare instanceof z.ZodRecord) return bare.valueType
  if (!(bare instanceof z.ZodObject) || !Object.hasOwn(bare.shape, name)) return null
  return bare.shape[name] ?? null
}

function unwrap(type: z.core.$ZodType): z.core.$ZodType {
  const isWrapped = type instanceof z.ZodDefault || type instanceof z.ZodPrefault || type instanceof z.ZodNullable
  return isWrapped ? unwrap(type.unwrap()) : type
}

function kindOf(bare: z.core.$ZodType): ValueKind {
  if (bare instanceof z.ZodNumber) return 'number'
  if (bare instanceof z.ZodBoolean) return 'flag'
  // Only the plug-in knows its own settings.
  if (bare instanceof z.ZodLazy) return 'json'
  return bare instanceof z.ZodArray ? 'list' : 'text'
}

function defaultOf(type: z.core.$ZodType): unknown {
  return type instanceof z.ZodDefault ? type.def.defaultValue : undefined
}

/** The message for an unknown key: the nearest existing key, or the keys of the section. Null for a known one. */
export function unknownKeyProblem(path: readonly string[]): string | null {
  const depth = path.findIndex((_, index) => typeAt(path.slice(0, index + 1)) === null)
  if (depth === -1) return null
  const within = path.slice(0, depth)
  const unknown = path.slice(0, depth + 1).join('.')
  const names = namesAt(within)
  if (names === null) return `${unknown} is not a known key; ${within.join('.')} is a value and has no keys below it`
  const meant = meantKey(path, depth, names)
  const hint =
    meant === null ? `${within.length === 0 ? 'the file' : within.join('.')} knows ${names.join(', ')}` : `did you mean ${meant}?`
  return `${unknown} is not a known ${within.length === 0 && path.length > 1 ? 'section' : 'key'}; ${hint}`
}

/** First a misspelt neighbour, then the same name in another section, then the nearest whole key. */
function meantKey(path: readonly string[], depth: number, names: readonly string[]): string | null {
  const word = path[depth] ?? ''
  const neighbour = nearest(word, names)
  if (neighbour !== null) return [...path.slice(0, depth), neighbour].join('.')
  const keys = allKeys().map(({ key }) => key)
  return keys.find((key) => key.endsWith(`.${word}`)) ?? nearest(path.join('.'), keys)
}
