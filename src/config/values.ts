/** Reads text from the command line, a variable or an interpolation as the kind of value that its key takes. */
import { parse } from 'yaml'
import type { ValueKind } from './keys.ts'

/** Text that does not parse as that kind stays text, and the schema refuses it. */
export function readValue(text: string, kind: ValueKind | null): unknown {
  if (kind === 'text' || text === '') return text
  if (kind === 'list' && !text.startsWith('[')) return [text]
  const value = readYaml(text)
  return isOfKind(value, kind) && !isAccident(value, text, kind) ? value : text
}

/** A sentence with a colon or a dash is not a section or a list. */
const isAccident = (value: unknown, text: string, kind: ValueKind | null): boolean =>
  kind === 'json' && typeof value === 'object' && value !== null && !/^[[{]/.test(text)

function isOfKind(value: unknown, kind: ValueKind | null): boolean {
  if (kind === 'number') return typeof value === 'number'
  if (kind === 'flag') return typeof value === 'boolean'
  return kind === 'list' ? Array.isArray(value) : true
}

function readYaml(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent' })
  } catch {
    return text
  }
}
