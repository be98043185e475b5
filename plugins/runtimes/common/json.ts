/** Looking into what an engine answered: every reader gives a usable value and none throws. */
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'

export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

export const listOf = (value: Json | undefined): readonly Json[] => (isList(value) ? value : [])

export const objectsOf = (value: Json | undefined): readonly JsonObject[] => listOf(value).filter(isObject)

/** `Array.isArray` does not narrow read-only lists. */
export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

/** Null for anything but a text with something in it. */
export const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null)
