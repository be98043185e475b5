/** Rows of a chain and the status of a service, as the service answers them. */
import type { CatalogRow, StatusReport } from '@svc-ai/client'
import { chainOfCatalog, type ChainStep, type StepChain } from '../chain.ts'

/** A step that published from traffic, but for the changes. */
export function rowOf(step: number, changes: Partial<CatalogRow> = {}): CatalogRow {
  return {
    step,
    release_id: `release-${step}`,
    content_id: `content-${step}`,
    parent_release_id: step === 0 ? null : `release-${step - 1}`,
    operation: step === 0 ? 'create' : 'train',
    recorded_at: 1_794_757_869 + 60 * step,
    pending: false,
    restorable: true,
    current: false,
    result: 'published',
    metrics: {},
    page_path: `/svc/harness/releases/${step}/page?scenario=demo&key=k`,
    ...changes,
  }
}

export const chainOf = (...rows: readonly CatalogRow[]): StepChain => chainOfCatalog(rows)

export function stepAt({ steps }: StepChain, place: number): ChainStep {
  const step = steps.toReversed()[place]
  if (step === undefined) throw new Error(`the chain has no step ${place}`)
  return step
}

export const statusWith = (changes: Partial<StatusReport>): StatusReport => ({
  error: null,
  preload_errors: {},
  last_drain_at: null,
  scenarios: {},
  serving: {},
  training_job: null,
  storage: { records: 0, body_bytes: 0, capacity_bytes: 0, lost_records: 0, lost_bytes: 0, error: null },
  ...changes,
})
