/** What is decided without asking anybody. */
import assert from 'node:assert/strict'
import type { LimitAdmission } from '../subjects.ts'

export function atOnce(admitted: LimitAdmission | Promise<LimitAdmission> | null): LimitAdmission | null {
  assert.ok(!(admitted instanceof Promise))
  return admitted
}
