/** Prints data as TOML with sorted keys, one table per object, so that equal data gives equal files. */
import { invalid, isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'

export function printToml(data: JsonObject): string {
  return `${tablesOf([], data).join('\n\n')}\n`
}

/** A table's own lines come before its subtables: TOML assigns every line to the last named table. */
function tablesOf(path: readonly string[], table: JsonObject): string[] {
  const members = membersOf(table)
  const lines = members.flatMap(([key, value]) => (isObject(value) ? [] : [`${keyOf(key)} = ${valueOf(value, [...path, key])}`]))
  const inner = members.flatMap(([key, value]) => (isObject(value) ? tablesOf([...path, key], value) : []))
  const head = path.length === 0 || (lines.length === 0 && inner.length > 0) ? [] : [`[${path.map(keyOf).join('.')}]`]
  const own = [...head, ...lines]
  return own.length === 0 ? inner : [own.join('\n'), ...inner]
}

const membersOf = (table: JsonObject): readonly (readonly [string, Json])[] => Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1))

/** Objects in lists are inline tables. */
function valueOf(value: Json, path: readonly string[]): string {
  if (value === null) throw invalid('bad_config', `config data ${path.join('.')} is null, which TOML cannot express; leave the field out`)
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map((item: Json) => valueOf(item, path)).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  return `{${membersOf(value)
    .map(([key, member]) => ` ${keyOf(key)} = ${valueOf(member, [...path, key])}`)
    .join(',')} }`
}

const keyOf = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : quoted(key))

/** JSON's escapes are valid TOML, except the delete character and lone surrogates. */
function quoted(text: string): string {
  if (!text.isWellFormed()) throw invalid('bad_text', 'config data holds half a surrogate pair; send valid Unicode')
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f')
}
