/** Reads the metrics of a row. A method may have written anything there: a value that is missing or of another type counts as absent. */

export type UnknownRecord = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is UnknownRecord => typeof value === 'object' && value !== null && !Array.isArray(value)

export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

export const objectAt = (from: UnknownRecord, name: string): UnknownRecord => (isRecord(from[name]) ? from[name] : {})

/** Null for an absent or blank text. */
export const textAt = (from: UnknownRecord, name: string): string | null => (isText(from[name]) ? from[name] : null)

export const numberAt = (from: UnknownRecord, name: string): number | null => (isNumber(from[name]) ? from[name] : null)

export const listAt = (from: UnknownRecord, name: string): readonly unknown[] => (Array.isArray(from[name]) ? from[name] : [])

export const textsAt = (from: UnknownRecord, name: string): readonly string[] => listAt(from, name).filter(isText)

export const objectsAt = (from: UnknownRecord, name: string): readonly UnknownRecord[] => listAt(from, name).filter(isRecord)
