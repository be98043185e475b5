/** The provisional release of a scenario, as the rows up to one of them say: at most one, and none once the head has moved. */
import { isObject, provisionalEnded, provisionalGain, type Commit, type Json } from '../contract/index.ts'
import { isPublished } from './chain.ts'

export interface ProvisionalTotals {
  /** Of the row that made the one there is; null while there is none. */
  readonly step: number | null
  /** The contents that were withdrawn since the head moved last, newest last: they do not come back by themselves. */
  readonly withdrawn: readonly string[]
}

export const NO_PROVISIONAL: ProvisionalTotals = { step: null, withdrawn: [] }

/** Every row holds them. */
const WITHDRAWN_MAX = 32

export function provisionalAfter(before: ProvisionalTotals, row: Commit): ProvisionalTotals {
  if (isPublished(row)) return NO_PROVISIONAL
  if (provisionalGain(row) !== null) return { ...before, step: row.step }
  const ended = provisionalEnded(row.metrics)
  if (ended === null || ended.step !== before.step) return before
  const withdrawn = ended.because === 'withdrawn' ? [...before.withdrawn, ended.content_id].slice(-WITHDRAWN_MAX) : before.withdrawn
  return { step: null, withdrawn }
}

/** Nothing where there is nothing to say: most rows are of scenarios that never had one. */
export const printProvisional = ({ step, withdrawn }: ProvisionalTotals): { provisional?: { step: number | null; withdrawn: string[] } } =>
  step === null && withdrawn.length === 0 ? {} : { provisional: { step, withdrawn: [...withdrawn] } }

/** Null for what this version did not write. */
export function readProvisional(stored: Json | undefined): ProvisionalTotals | null {
  if (stored === undefined) return NO_PROVISIONAL
  if (!isObject(stored)) return null
  const { step, withdrawn } = stored
  if ((step !== null && typeof step !== 'number') || !Array.isArray(withdrawn)) return null
  return { step, withdrawn: withdrawn.filter((id: Json) => typeof id === 'string') }
}
