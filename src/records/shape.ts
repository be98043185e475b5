/** Checks a body against its schema. The refusal names the first bad field and the rule. */
import type { z } from 'zod'
import { invalid, type Json } from '../contract/index.ts'

export function checkShape<T>(schema: z.ZodType<T>, value: Json, at = ''): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw invalid('invalid_field', shapeProblem(result.error, at))
}

export function shapeProblem({ issues: [issue] }: z.ZodError, at: string): string {
  const path = pathText([...(at === '' ? [] : [at]), ...(issue?.path ?? [])])
  return `${path === '' ? 'the body' : path}: ${lower(issue?.message ?? 'not acceptable')}`
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`)).join('')
}

function lower(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}
