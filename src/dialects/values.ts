/** Looking into JSON that anyone may have sent: every reader answers with a usable value and none throws. It runs in browsers too. */
import { isObject, type Json, type JsonObject } from '../contract/json.ts'

export { isObject }

/** `Array.isArray` does not narrow read-only lists. */
export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

export const listOf = (value: Json | undefined): readonly Json[] => (isList(value) ? value : [])

export const objectsOf = (value: Json | undefined): readonly JsonObject[] => listOf(value).filter(isObject)

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** Null for anything but a text with something in it. */
export const filledText = (value: Json | undefined): string | null => textOf(value) || null

export const wordsAt = (value: JsonObject, key: string): string | null => filledText(value[key])

/** A string as it is, any other value as JSON text: tool arguments and results come as either. */
export const written = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

/** The tags of a stored exchange. They stand beside `metadata` where that is no object. */
export const tagsIn = ({ metadata, metadata_tags: beside }: JsonObject): JsonObject =>
  isObject(beside) ? beside : objectOf(objectOf(metadata)['tags'])

/** Parsed, or undefined when the text is not JSON. */
export function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** The members that are there and say something, under their own names. */
export const pick = (body: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => ((body[name] ?? null) === null ? [] : [[name, body[name] ?? null]])))
