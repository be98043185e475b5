/** Reads the metrics of a row. A method may have written anything there: a value that is missing or of another type counts as absent. */

export type UnknownRecord = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is UnknownRecord => typeof value === 'object' && value !== null && !Array.isArray(value)

export function objectAt(from: UnknownRecord, name: string): UnknownRecord {
  const value = from[name]
  return isRecord(value) ? value : {}
}

/** Null for an absent or blank text. */
export function textAt(from: UnknownRecord, name: string): string | null {
  const value = from[name]
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

export function numberAt(from: UnknownRecord, name: string): number | null {
  const value = from[name]
  return isNumber(value) ? value : null
}

export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

export function listAt(from: UnknownRecord, name: string): readonly unknown[] {
  const value = from[name]
  return Array.isArray(value) ? value : []
}

export const textsAt = (from: UnknownRecord, name: string): readonly string[] =>
  listAt(from, name).filter((value): value is string => typeof value === 'string' && value.trim() !== '')

export const objectsAt = (from: UnknownRecord, name: string): readonly UnknownRecord[] => listAt(from, name).filter(isRecord)
