/** Reads members of untrusted JSON, with an empty value where the type is wrong. */
import { isObject, type Json, type JsonObject } from '../contract/index.ts'

export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

export const objectsOf = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

export const countOf = (value: Json | undefined): number => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0)

/** The joined texts of all parts of one type, or the text itself. */
export function partsText(content: Json | undefined, type: string): string {
  if (typeof content === 'string') return content
  return objectsOf(content)
    .filter((part) => part['type'] === type)
    .map(({ text }) => textOf(text))
    .join('')
}
