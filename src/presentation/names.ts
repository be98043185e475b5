/** What people call a step: a release has a number; a step that made none is called by what it was and when. */
import { madeRelease, type StepRow } from './chain.ts'

type NamedRow = Pick<StepRow, 'step' | 'operation' | 'result' | 'recorded_at'>

/** "v3"; "try of 2026-11-17 14:03:20 UTC". `number` is the place of the release where places are counted, else its step. */
export const stepName = (row: NamedRow, number = row.step): string =>
  madeRelease(row) ? `v${number}` : `${KINDS[row.operation] ?? 'try'} of ${stepTime(row)} UTC`

const KINDS: Readonly<Partial<Record<StepRow['operation'], string>>> = { comment: 'comment', reject: 'rejection', withdraw: 'withdrawal' }

/** "2026-11-17 14:03:20", in UTC: the same words on every machine. */
export function stepTime({ recorded_at: at }: Pick<StepRow, 'recorded_at'>): string {
  const moment = new Date(at * 1000)
  return Number.isNaN(moment.getTime()) ? 'an unknown time' : moment.toISOString().slice(0, 19).replace('T', ' ')
}
