/** Validates values against the JSON schemas of the published document. Unknown keywords throw. */
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'

export interface Reading {
  /** The target of `$ref`. */
  readonly root: JsonObject
  /** Undeclared members are a problem, even where the schema allows them. */
  readonly isClosed?: boolean
}

/** Every broken rule, with its path. */
export function problemsOf(reading: Reading, schema: Json | undefined, value: Json, at = '$'): readonly string[] {
  if (!isObject(schema)) throw new Error(`no schema for ${at}: ${JSON.stringify(schema)}`)
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    const check = KEYWORDS[keyword]
    if (check === undefined) throw new Error(`the keyword ${keyword} at ${at} is not known`)
    return check({ reading, schema, rule, value, at })
  })
}

/** Errors in the schema itself. */
export function flawsOf(schema: Json | undefined, at = '$'): readonly string[] {
  if (!isObject(schema)) return [`${at} is no schema`]
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    const place = `${at}/${keyword}`
    if (KEYWORDS[keyword] === undefined) return [`${place} is no keyword`]
    if (keyword === 'pattern') return isPattern(textOf(rule)) ? [] : [`${place} is no pattern`]
    if (keyword === 'properties')
      return Object.entries(isObject(rule) ? rule : {}).flatMap(([name, part]) => flawsOf(part, `${place}/${name}`))
    if (keyword === 'anyOf' || keyword === 'oneOf') return listed(rule).flatMap((part, index) => flawsOf(part, `${place}/${index}`))
    return ['items', 'not', 'propertyNames'].includes(keyword) || (keyword === 'additionalProperties' && rule !== false)
      ? flawsOf(rule, place)
      : []
  })
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode
  } catch {
    return false
  }
}

export function resolve(root: JsonObject, ref: string): Json {
  let found: Json | undefined = root
  for (const key of ref.replace(/^#\//, '').split('/')) found = isObject(found) ? found[key] : undefined
  if (found === undefined) throw new Error(`${ref} leads nowhere`)
  return found
}

interface Meeting {
  readonly reading: Reading
  readonly schema: JsonObject
  readonly rule: Json
  readonly value: Json
  readonly at: string
}
type Check = (meeting: Meeting) => readonly string[]

const rule =
  (words: string, holds: (value: Json, rule: Json) => boolean): Check =>
  ({ value, rule: wanted, at }) =>
    holds(value, wanted) ? [] : [`${at} ${words} ${JSON.stringify(wanted).slice(0, 80)}`]
const ofText = (words: string, holds: (text: string, rule: Json) => boolean): Check =>
  rule(words, (value, wanted) => typeof value !== 'string' || holds(value, wanted))
const ofNumber = (words: string, holds: (number: number, rule: number) => boolean): Check =>
  rule(words, (value, wanted) => typeof value !== 'number' || holds(value, Number(wanted)))
const ofList = (words: string, holds: (list: readonly Json[], rule: Json) => boolean): Check =>
  rule(words, (value, wanted) => !Array.isArray(value) || holds(value, wanted))
const nothing: Check = () => []

const KEYWORDS: Readonly<Record<string, Check>> = {
  $ref: ({ reading, rule: ref, value, at }) => problemsOf(reading, resolve(reading.root, textOf(ref)), value, at),
  type: rule('is not of type', (value, types) => [types].flat().some((type) => isOfType(value, textOf(type)))),
  const: rule('is not', (value, only) => isSame(value, only)),
  enum: rule('is none of', (value, all) => listed(all).some((one) => isSame(value, one))),
  minLength: ofText('is shorter than', (text, least) => Array.from(text).length >= Number(least)),
  maxLength: ofText('is longer than', (text, most) => Array.from(text).length <= Number(most)),
  pattern: ofText('does not match', (text, pattern) => new RegExp(textOf(pattern), 'u').test(text)),
  minimum: ofNumber('is less than', (number, least) => number >= least),
  exclusiveMinimum: ofNumber('is not more than', (number, least) => number > least),
  maximum: ofNumber('is more than', (number, most) => number <= most),
  minItems: ofList('has fewer items than', (list, least) => list.length >= Number(least)),
  maxItems: ofList('has more items than', (list, most) => list.length <= Number(most)),
  uniqueItems: ofList('repeats an item', (list) => new Set(list.map((item) => JSON.stringify(item))).size === list.length),
  items: ({ reading, rule: items, value, at }) =>
    listed(value).flatMap((item, index) => problemsOf(reading, items, item, `${at}[${index}]`)),
  required: ({ rule: names, value, at }) =>
    isObject(value)
      ? listed(names)
          .map(textOf)
          .flatMap((name) => (Object.hasOwn(value, name) ? [] : [`${at}.${name} is missing`]))
      : [],
  properties: ({ reading, schema, rule: known, value, at }) => {
    if (!isObject(value) || !isObject(known)) return []
    const isClosed = reading.isClosed === true && schema['additionalProperties'] === undefined
    return Object.entries(value).flatMap(([name, member]) => {
      if (Object.hasOwn(known, name)) return problemsOf(reading, known[name], member, `${at}.${name}`)
      return isClosed ? [`${at}.${name} is not declared`] : []
    })
  },
  additionalProperties: ({ reading, schema, rule: others, value, at }) => {
    const known = Object(schema['properties'] ?? {})
    const rest = isObject(value) ? Object.entries(value).filter(([name]) => !Object.hasOwn(known, name)) : []
    return rest.flatMap(([name, member]) =>
      others === false ? [`${at}.${name} is not accepted`] : problemsOf(reading, others, member, `${at}.${name}`),
    )
  },
  propertyNames: ({ reading, rule: names, value, at }) =>
    isObject(value) ? Object.keys(value).flatMap((name) => problemsOf(reading, names, name, `${at} key ${name}`)) : [],
  anyOf: ({ reading, rule: branches, value, at }) => {
    const tried = listed(branches).map((branch) => problemsOf(reading, branch, value, at))
    return tried.some((problems) => problems.length === 0) ? [] : [`${at} fits no branch: ${tried.flat().join('; ')}`]
  },
  oneOf: ({ reading, rule: branches, value, at }) => {
    const tried = listed(branches).map((branch) => problemsOf(reading, branch, value, at))
    return tried.filter((problems) => problems.length === 0).length === 1
      ? []
      : [`${at} fits not just one branch: ${tried.flat().join('; ')}`]
  },
  not: ({ reading, rule: refused, value, at }) =>
    problemsOf(reading, refused, value, at).length > 0 ? [] : [`${at} is what it may not be`],
  format: nothing,
  default: nothing,
  description: nothing,
}

function isOfType(value: Json, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))
const isSame = (one: Json, other: Json): boolean => JSON.stringify(one) === JSON.stringify(other)
const listed = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [])
