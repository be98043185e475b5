/** The fields of a file of a tree: what is not as it must be ends the loading, naming the file and the field. */
import { field, parseJson } from '@svc-ai/client/shared'
import { failed } from './ended.ts'
import type { Data } from './tree.ts'

/** One JSON object of a file, and where it is, in words. */
export interface FieldPlace {
  readonly at: string
  readonly data: unknown
}

export const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value)

export function objectIn(at: string, text: string): FieldPlace & { readonly data: Data } {
  const data = parseJson(text)
  if (isData(data)) return { at, data }
  throw bad(at, 'is no JSON object')
}

export const bad = (at: string, problem: string): Error =>
  failed('LOAD_ERROR', `the tree cannot be loaded: ${at} ${problem}; pull it again`)

export function textOf(place: FieldPlace, name: string): string {
  const text = textOrNull(place, name)
  if (text !== null) return text
  throw bad(`${place.at}.${name}`, 'must be text')
}

export function textOrNull({ at, data }: FieldPlace, name: string): string | null {
  const value = field(data, name) ?? null
  if (value === null || typeof value === 'string') return value
  throw bad(`${at}.${name}`, 'must be text')
}

export function numberOrNull({ at, data }: FieldPlace, name: string): number | null {
  const value = field(data, name) ?? null
  if (value === null || (typeof value === 'number' && value > 0)) return value
  throw bad(`${at}.${name}`, 'must be a number above 0')
}

/** A whole number, cut to what is allowed. */
export const countOf = (place: FieldPlace, name: string, otherwise: number, max: number): number =>
  Math.min(Math.ceil(numberOrNull(place, name) ?? otherwise), max)

export function textsOrNull({ at, data }: FieldPlace, name: string): readonly string[] | null {
  const value = field(data, name) ?? null
  if (value === null || (Array.isArray(value) && value.every((each): each is string => typeof each === 'string'))) return value
  throw bad(`${at}.${name}`, 'must be a list of texts')
}

export function wordOf<T extends string>(place: FieldPlace, name: string, words: readonly T[]): T {
  const text = textOf(place, name)
  const found = words.find((word) => word === text)
  if (found !== undefined) return found
  throw bad(`${place.at}.${name}`, `must be one of ${words.join(', ')}`)
}

export function listOf({ at, data }: FieldPlace, name: string): readonly FieldPlace[] {
  const value = field(data, name)
  if (Array.isArray(value)) return value.map((each: unknown, index) => ({ at: `${at}.${name}[${index}]`, data: each }))
  throw bad(`${at}.${name}`, 'must be a list')
}
