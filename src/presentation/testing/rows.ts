/** Rows of a chain, for the tests. */
import type { MovableRow } from '../chain.ts'

/** A step that published from traffic, except for what is given. */
export const rowOf = (step: number, more: Partial<MovableRow> = {}): MovableRow => ({
  step,
  recorded_at: 1_794_757_869 + step,
  operation: step === 0 ? 'create' : 'train',
  result: 'published',
  pending: false,
  release_id: `release-${step}`,
  content_id: `content-${step}`,
  restorable: true,
  current: false,
  metrics: {},
  ...more,
})

export const HELD = rowOf(1, { result: 'pending', pending: true, restorable: false })
export const REJECTED = rowOf(2, {
  operation: 'reject',
  result: 'rejected',
  release_id: 'release-1',
  rollback_target_release_id: 'release-1',
  restorable: false,
  metrics: { reason: 'It deletes files.' },
})
export const PROMOTED = rowOf(2, { operation: 'promote', rollback_target_release_id: 'release-1', current: true })
