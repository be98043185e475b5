/** Members of a stranger's JSON, taken for what they should be or for nothing. */
import { isObject, type Json, type JsonObject } from '../contract/index.ts'

export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

export const objectsOf = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

export const countOf = (value: Json | undefined): number => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0)

/** The texts of a list of parts of one type, or the text itself. */
export function partsText(content: Json | undefined, type: string): string {
  if (typeof content === 'string') return content
  return objectsOf(content)
    .filter((part) => part['type'] === type)
    .map(({ text }) => textOf(text))
    .join('')
}
