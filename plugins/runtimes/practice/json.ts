/** Looking into JSON that anyone may have sent: every reader answers with a usable value and none throws. */
import { isObject } from '../../../src/contract/index.ts'
import type { Json, JsonObject } from '../../../src/contract/index.ts'

export { isObject }

/** `Array.isArray` does not narrow read-only lists. */
export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

/** The value's own elements when it is a list, else none. */
export const listOf = (value: Json | undefined): readonly Json[] => (isList(value) ? value : [])

export const objectsOf = (value: Json | undefined): readonly JsonObject[] => listOf(value).filter(isObject)

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** A string as it is, any other value as JSON text: tool arguments and results come as either. */
export const written = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

/** Parsed, or undefined when the text is not JSON. */
export function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** Whether the value nests deeper than the limit. Walks without recursion: the value may be as deep as its sender likes. */
export function isDeeperThan(value: Json, depthMax: number): boolean {
  let level: readonly Json[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values<Json>(one) : []))
  }
  return false
}
