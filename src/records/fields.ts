/** Field schemas shared by several kinds of records. */
import { z } from 'zod'
import { RECORD_ID_CHARACTERS_MAX, type Json, type JsonObject } from '../contract/index.ts'
import { countCodePoints, type Span } from '../kit/index.ts'

/** The pattern for `trim() !== ''`. */
export const NOT_BLANK = String.raw`\S`

const ID_RULE = `must be a non-blank string of 1 to ${RECORD_ID_CHARACTERS_MAX} characters of well-formed Unicode`

export const recordId = boundedText(RECORD_ID_CHARACTERS_MAX, ID_RULE)

/** Non-blank text, its length counted in code points as JSON schemas do, so that the published schema states the same rule. */
export function boundedText(charactersMax: number, error: string): z.ZodString {
  return z
    .string({ error })
    .refine((text) => text.trim() !== '' && text.isWellFormed() && countCodePoints(text) <= charactersMax, { error })
    .meta({ minLength: 1, maxLength: charactersMax, pattern: NOT_BLANK })
}

/** Any JSON object. The body was parsed as strict JSON, so its members need no check. */
export const jsonObject = z
  .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), { error: 'must be a JSON object' })
  .meta({ type: 'object' })

/** The score that the list routes show: the payload's, when it is a number. */
export function scoreOf(score: Json | undefined): number | null {
  return typeof score === 'number' && Number.isFinite(score) ? score : null
}

export function encode(payload: JsonObject): Uint8Array {
  return Buffer.from(JSON.stringify(payload))
}

export function parseAt(bytes: Buffer, { start, end }: Span): Json {
  const value: Json = JSON.parse(bytes.toString('utf8', start, end))
  return value
}
