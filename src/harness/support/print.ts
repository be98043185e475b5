/** Prints JSON and YAML indented with sorted keys, so that equal data gives equal files. */
import { stringify } from 'yaml'
import { isObject, type Json } from '../../contract/index.ts'

export const printJson = (value: Json): string => `${JSON.stringify(sorted(value), null, 2)}\n`

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => sorted(item))
  if (!isObject(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] ?? null)]))
}

/**
 * YAML that every version reads the same: texts and keys are in double quotes with JSON's escapes, so that none is a boolean, a number, a merge
 * key or a tag.
 */
export const printYaml = (value: unknown): string =>
  escapedSigns(
    stringify(value, {
      lineWidth: 0,
      sortMapEntries: true,
      defaultStringType: 'QUOTE_DOUBLE',
      defaultKeyType: 'QUOTE_DOUBLE',
      doubleQuotedAsJSON: true,
      aliasDuplicateObjects: false,
    }),
  )

/** In quoted text: what some parsers take for the end of a line, or do not accept. */
export const escapedSigns = (quoted: string): string =>
  quoted.replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
