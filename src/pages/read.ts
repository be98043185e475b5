/** Reads what steps left in their rows. A method may have written anything there: what is missing or of another type is not there. */
import { isObject, type Json, type JsonObject } from '../contract/index.ts'

const NOTHING: JsonObject = {}

export const objectAt = (from: JsonObject, name: string): JsonObject => {
  const value = from[name]
  return isObject(value) ? value : NOTHING
}

/** Null when there is none, or nothing but white space. */
export function textAt(from: JsonObject, name: string): string | null {
  const value = from[name]
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

export function numberAt(from: JsonObject, name: string): number | null {
  const value = from[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

export function listAt(from: JsonObject, name: string): readonly Json[] {
  const value = from[name]
  return Array.isArray(value) ? value : []
}

export const textsAt = (from: JsonObject, name: string): readonly string[] =>
  listAt(from, name)
    .filter((value) => typeof value === 'string' && value.trim() !== '')
    .map(String)

export const objectsAt = (from: JsonObject, name: string): readonly JsonObject[] => listAt(from, name).filter(isObject)
