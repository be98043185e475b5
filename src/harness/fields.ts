/** Schemas of fields that several kinds of entries have. Each message completes a sentence that begins with the field. */
import { z } from 'zod'
import { ENTRY_NAME_CHARACTERS_MAX } from '../contract/index.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
export const NAME_RULE = `must start with a letter or digit and go on with those, '.', '_' or '-', ${ENTRY_NAME_CHARACTERS_MAX} characters at most`

export const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= ENTRY_NAME_CHARACTERS_MAX && NAME.test(value)

/** The first rule that a value breaks, with the path of the field; null when it is valid. */
export function brokenRule(schema: z.ZodType, value: unknown, at: string): string | null {
  const [issue] = schema.safeParse(value).error?.issues ?? []
  if (issue === undefined) return null
  const path = issue.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
  return `${at}${path.join('')} ${issue.message}`
}

export const name = z.custom<string>(isName, { error: NAME_RULE })

const TEXT_RULE = 'must be non-blank text'
export const text = z.string({ error: TEXT_RULE }).refine((value) => value.trim() !== '', { error: TEXT_RULE })

export function wholeNumber(max: number): z.ZodType<number> {
  const error = `must be a whole number from 1 to ${max}`
  return z.int({ error }).min(1, { error }).max(max, { error })
}

export function distinct<T>(item: z.ZodType<T>, max = Infinity): z.ZodType<T[]> {
  const error = `must be a list without repetitions${max === Infinity ? '' : `, ${max} at most`}`
  return z.array(item, { error }).refine((list) => list.length <= max && new Set(list).size === list.length, { error })
}

/** Unknown fields are refused: a misspelt field must not count as absent. The message does not quote them: they may hold anything. */
export function strict<T extends z.ZodRawShape>(shape: T): z.ZodObject<T, z.core.$strict> {
  const fields = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? `holds an unknown field; there are: ${fields}` : `must be an object of ${fields}`),
  })
}
