/** The contents that people rejected, as the rows up to one of them say, newest last. */
import type { Commit, Json } from '../contract/index.ts'
import { isReleased } from './chain.ts'

export interface RejectedContent {
  /** Of the row that rejected it. */
  readonly step: number
  readonly content_id: string
}

/** Every row holds them. */
const REJECTED_MAX = 32

export function rejectedAfter(before: readonly RejectedContent[], row: Commit): readonly RejectedContent[] {
  if (row.operation !== 'reject' || !isReleased(row)) return before
  return [...before, { step: row.step, content_id: row.release.content_id }].slice(-REJECTED_MAX)
}

/** Nothing where there is nothing to say. */
export const printRejected = (rejected: readonly RejectedContent[]): { rejected?: [number, string][] } =>
  rejected.length === 0 ? {} : { rejected: rejected.map(({ step, content_id }) => [step, content_id]) }

/** Null for what this version did not write. */
export function readRejected(stored: Json | undefined): readonly RejectedContent[] | null {
  if (stored === undefined) return []
  if (!Array.isArray(stored)) return null
  const read = stored.map(readOne)
  return read.every((one) => one !== null) ? read : null
}

function readOne(entry: Json): RejectedContent | null {
  if (!Array.isArray(entry)) return null
  const [step, content_id]: readonly Json[] = entry
  return typeof step === 'number' && typeof content_id === 'string' ? { step, content_id } : null
}
