/** Fields that several wire shapes share, and the type of a shape. */
import { z } from 'zod'
import type { Json, JsonObject } from '../json.ts'
import { RECORD_ID_CHARACTERS_MAX } from '../limits.ts'
import { MODEL_APIS } from '../names.ts'

/** The type of a shape: what its schema describes, read-only at every depth. */
export type WireType<S extends z.ZodType> = ReadonlyDeep<z.input<S>>
type ReadonlyDeep<T> = JsonObject extends T
  ? T
  : T extends readonly (infer Item)[]
    ? readonly ReadonlyDeep<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
      : T

// ── answers ──────────────────────────────────────────────────────────────────────────────────

export const text = z.string()
export const count = z.int().nonnegative()
export const step = count.describe('Steps count from 0, which creates the scenario.')
export const seconds = z.number().describe('Seconds since the epoch, with a fraction.')
export const scenario = text.describe('The name of the scenario.')
export const storedId = text.describe('A receipt, or the id that the record was sent with.')
export const releaseId = text.describe('The id of a release.')
export const contentId = text.describe('Equal exactly when the contents are equal.')
export const components = z.exactOptional(
  z.record(z.string(), contentId).describe('The content id of each component, when a release has several.'),
)
export const requestType = z.enum(['inference', 'report', 'train'])
export type RequestType = z.infer<typeof requestType>
export const trainingMode = z.enum(['auto', 'manual', 'hybrid'], { error: "must be 'auto', 'manual' or 'hybrid'" })
export type TrainingMode = z.infer<typeof trainingMode>
export const modelApi = z.enum(MODEL_APIS, { error: "must be 'openai', 'responses', 'anthropic' or 'gemini'" })
/** The provider format that a model's address speaks. */
export type ModelApi = z.infer<typeof modelApi>

/** Any JSON object. Bodies are parsed as strict JSON before, so its members need no second check. */
export const jsonObject = z
  .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), { error: 'must be a JSON object' })
  .meta({ type: 'object' })
export const jsonValue = z.custom<Json>(() => true)

// ── requests ─────────────────────────────────────────────────────────────────────────────────

/** As a pattern, what `trim() !== ''` checks. */
const NOT_BLANK = String.raw`\S`

export function notBlank(error: string): z.ZodString {
  return z
    .string({ error })
    .refine((value) => value.trim() !== '', { error })
    .meta({ pattern: NOT_BLANK })
}

/** Text that is not blank. Its length is counted in code points, as JSON schemas count it. */
export function boundedText(charactersMax: number, error: string): z.ZodString {
  return z
    .string({ error })
    .refine((value) => value.trim() !== '' && value.isWellFormed() && isWithin(value, charactersMax), { error })
    .meta({ minLength: 1, maxLength: charactersMax, pattern: NOT_BLANK })
}

/** Whether a text has at most so many code points. Its length in UTF-16 units is at most twice that. */
export function isWithin(value: string, charactersMax: number): boolean {
  if (value.length <= charactersMax) return true
  return value.length <= 2 * charactersMax && Array.from(value).length <= charactersMax
}

const ID_RULE = `must be a non-blank string of 1 to ${RECORD_ID_CHARACTERS_MAX} characters of well-formed Unicode`
export const newRecordId = boundedText(RECORD_ID_CHARACTERS_MAX, ID_RULE)
