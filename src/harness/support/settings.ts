/** Refuses settings that would choose the model, run other programs, or read outside the tree. */
import { z } from 'zod'
import { invalid, isObject, type Entry, type Json, type JsonObject } from '../../contract/index.ts'

/** Why a setting is refused, with the fix. */
export const WHY = {
  namesModel: 'the service names the model; remove the field',
  isFixed: 'it is set for every tree; remove the field',
  loadsCode: 'it loads code from outside the tree; write the code as a code_extension entry and remove the field',
  runsProgram:
    'it names a program to run; write a code_extension entry instead, or set it in your own project where the agent reads settings there',
  readsOutside: 'it reads from outside the tree; write a rules, skill or agent_command entry instead',
} as const

/** What one entry sets. */
interface Setting {
  readonly id: string
  readonly target: string
  readonly data: JsonObject
}

/** Kept per entry, since merged settings no longer say which entry set a field. */
export function settingsIn(entries: readonly Entry[]): readonly Setting[] {
  const all = configIn(entries)
  for (const setting of all) {
    refuseTexts(setting, PROTOTYPE, 'some agents read it as a change of every object; remove it')
    refuseOddNumbers(setting)
  }
  return all
}

export function configIn(entries: readonly Entry[]): readonly Setting[] {
  return entries
    .filter(({ name }) => name === 'config')
    .map(({ id, config: { target, data } }) => ({
      id,
      target: typeof target === 'string' ? target : 'primary',
      data: isObject(data) ? data : {},
    }))
}

/** Checks by field name would miss what is below it, and agents that copy settings key by key would set it on every object. */
const PROTOTYPE = /^__proto__$/

/** Parsers round others differently, or take them for text, and one without end is printed as null. */
const isPlainNumber = (value: number): boolean =>
  /^-?\d+(?:\.\d+)?$/.test(String(value)) && (Number.isSafeInteger(value) || !Number.isInteger(value))

function refuseOddNumbers({ id, data }: Setting): void {
  for (const [field, value] of leavesIn(data, ''))
    if (typeof value === 'number' && !isPlainNumber(value))
      throw settingRefused(
        id,
        field,
        'a number is written with digits and a point alone, 15 digits at most, so that every agent reads the same',
      )
}

/** For agents that expand such texts. Checks field names too. */
export function refuseTexts({ id, data }: Setting, refused: RegExp, cure: string): void {
  for (const [field, value] of leavesIn(data, ''))
    if (typeof value === 'string' && refused.test(value)) throw settingRefused(id, field, cure)
}

/** Every value, and every name of a field as text. */
function* leavesIn(value: Json, field: string): Generator<readonly [field: string, value: Json]> {
  if (typeof value !== 'object' || value === null) yield [field, value]
  else
    for (const [key, member] of Object.entries(value)) {
      const below = field === '' ? key : `${field}.${key}`
      yield [below, key]
      yield* leavesIn(member, below)
    }
}

const settingRefused = (id: string, field: string, cure: string): Error =>
  invalid('setting_refused', `${id}: config.data.${field} is refused: ${cure}`)

export type RefusedFields = readonly (readonly [why: string, ...fields: readonly string[]])[]

export function refuseFields({ id, data }: Setting, refused: RefusedFields): void {
  for (const [why, ...fields] of refused) for (const field of fields) if (Object.hasOwn(data, field)) throw settingRefused(id, field, why)
}

/** Fields of one type. */
export const every = (type: z.ZodType, ...fields: readonly string[]): z.ZodRawShape =>
  Object.fromEntries(fields.map((field) => [field, type]))

/** A whole number an agent works with: without an end it would wait, retry or read for ever, or not at all. */
export const between = (least: number, most: number): z.ZodType =>
  z
    .int()
    .min(least, { error: told(least, most) })
    .max(most, { error: told(least, most) })

/** The same, with a fraction. */
export const shareBetween = (least: number, most: number): z.ZodType =>
  z
    .number()
    .min(least, { error: told(least, most) })
    .max(most, { error: told(least, most) })

const told = (least: number, most: number): string => `it is a number from ${least} to ${most}`

/** Sizes and times that any agent works with. */
export const BOUNDS = {
  tokens: between(1_000, 2_000_000),
  keptTokens: between(0, 200_000),
  budgetTokens: between(1_024, 200_000),
  bytes: between(1_000, 10_000_000),
  lines: between(10, 100_000),
  lineLength: between(80, 1_000_000),
  timeoutMs: between(1_000, 3_600_000),
  delayMs: between(0, 600_000),
  retries: between(0, 20),
  rounds: between(1, 1_000),
  few: between(0, 100),
} as const

/** An object of optional fields. Unknown fields are refused: the agent's next version may give them any meaning. */
export function settings(some: z.ZodRawShape): z.ZodType {
  const shape = Object.fromEntries(Object.entries(some).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  const fields = Object.keys(shape)
  const others = fields.length === 0 ? 'a tree sets nothing there; remove it' : `a tree may set: ${fields.join(', ')}`
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? others : 'it is an object') }).partial()
}

/** Throws for the first invalid field. Types count too, since agents drop or refuse a file with a wrong one. */
export function refuseOthers({ id, data }: Setting, known: z.ZodType): void {
  const [problem] = known.safeParse(data).error?.issues ?? []
  if (problem === undefined) return
  const key = problem.code === 'unrecognized_keys' ? problem.keys.slice(0, 1) : []
  throw settingRefused(id, [...problem.path, ...key].join('.'), problem.message)
}
