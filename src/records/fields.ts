/** The fields that more than one kind of record has. */
import { z } from 'zod'
import { RECORD_ID_CHARACTERS_MAX, type Json, type JsonObject } from '../contract/index.ts'
import { countCodePoints } from '../kit/index.ts'

const ID_RULE = `must be a non-blank string of 1 to ${RECORD_ID_CHARACTERS_MAX} characters`

export const recordId = z
  .string({ error: ID_RULE })
  .refine((id) => id.trim() !== '' && countCodePoints(id) <= RECORD_ID_CHARACTERS_MAX, { error: ID_RULE })

/** Any JSON object. The body was parsed as strict JSON already, so its members need no second look. */
export const jsonObject = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), {
  error: 'must be a JSON object',
})

/** What the list routes show as a record's score: the payload's, when it is a number. */
export function scoreOf(payload: JsonObject): number | null {
  const score: Json | undefined = payload['score']
  return typeof score === 'number' ? score : null
}

export function encode(payload: JsonObject): Uint8Array {
  return Buffer.from(JSON.stringify(payload))
}
