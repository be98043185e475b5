/** Prints JSON indented with sorted keys, so that equal data gives equal files. */
import { isObject, type Json } from '../../contract/index.ts'

export const printJson = (value: Json): string => `${JSON.stringify(sorted(value), null, 2)}\n`

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => sorted(item))
  if (!isObject(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] ?? null)]))
}
