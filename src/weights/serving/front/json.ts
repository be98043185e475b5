/** Looking into JSON that anyone may have sent: every reader answers with a usable value and none throws. */
import { isObject, type Json, type JsonObject } from '../../../contract/index.ts'

export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

export const objectsOf = (value: Json | undefined): readonly JsonObject[] => (isList(value) ? value.filter(isObject) : [])

export const textsOf = (value: Json | undefined): readonly string[] =>
  isList(value) ? value.filter((one): one is string => typeof one === 'string') : []

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** A string as it is, any other value as JSON text: tool arguments and results come as either. */
export const written = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

/** The object that a text is the JSON of, or an empty one. */
export function parsedObject(text: string): JsonObject {
  try {
    return objectOf(JSON.parse(text))
  } catch {
    return {}
  }
}

/** The members that are there and say something, under their own names. */
export function pick(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => ((body[name] ?? null) === null ? [] : [[name, body[name] ?? null]])))
}
