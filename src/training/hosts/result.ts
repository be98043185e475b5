/** Validates a trainer's answer once, where it was given. From there on it is plain, typed data. */
import { z } from 'zod'
import { isObject, JSON_DEPTH_MAX, STEP_PRINTED_BYTES_MAX, type Json, type JsonObject, type StepResult } from '../../contract/index.ts'
import { isDeeperThan } from '../../kit/index.ts'
import { StepFailure } from './host.ts'

const MIB = 1024 * 1024

export function parseResult(answer: unknown): StepResult {
  const verdict = check(verdicts, answer)
  const { metrics, state, requires } = check(extras, answer)
  return {
    ...verdict,
    ...(metrics !== undefined && { metrics }),
    ...(state !== undefined && { state }),
    ...(requires !== undefined && { requires }),
  }
}

/** The failure names the first invalid field and never quotes its value. */
function check<T>(schema: z.ZodType<T>, answer: unknown): T {
  const checked = schema.safeParse(answer)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const path = (issue?.path ?? []).map(String).join('.')
  throw new StepFailure(`the trainer's answer is no step result: ${path === '' ? '' : `${path}: `}${issue?.message ?? 'not acceptable'}`)
}

/** A trainer answers for its own component only; composing components is up to the service. */
const content = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('files'), files: z.record(z.string(), z.string()) }),
  z.object({ kind: z.literal('checkpoint'), path: z.string() }),
])

const verdicts = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('publish'), content }),
  z.object({ kind: z.literal('live'), path: z.string() }),
  z.object({ kind: z.literal('hold'), content }),
  z.object({ kind: z.literal('provisional'), content, gain: z.number() }),
  z.object({ kind: z.literal('reject'), content: content.exactOptional() }),
  z.object({ kind: z.literal('skip'), reason: z.string() }),
  z.object({ kind: z.literal('fail'), error: z.string(), retry: z.literal(true).exactOptional() }),
])

/** As it will be stored: JSON turns a date into text and NaN into null. */
const printed = z.unknown().transform((value, context): Json => {
  const text = print(value)
  if (text === undefined) return refuse(context, 'must be plain JSON')
  if (Buffer.byteLength(text) > STEP_PRINTED_BYTES_MAX)
    return refuse(context, `must print to at most ${STEP_PRINTED_BYTES_MAX / MIB} MiB; keep what is larger in the trainer's directory`)
  const plain: Json = JSON.parse(text)
  return isDeeperThan(plain, JSON_DEPTH_MAX) ? refuse(context, `must be nested at most ${JSON_DEPTH_MAX} deep`) : plain
})

function print(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    // A cycle, a bigint, a getter that throws, or a stack overflow.
    return undefined
  }
}

function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue(message)
  return z.NEVER
}

const printedObject = printed.refine((value): value is JsonObject => isObject(value), 'must be a plain JSON object')
const printedList = printed.refine((value): value is readonly Json[] => Array.isArray(value), 'must be an array')

const extras = z.object({ metrics: printedObject.optional(), state: printedObject.optional(), requires: printedList.optional() })
