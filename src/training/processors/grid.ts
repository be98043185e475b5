/** Trains on a declared grid: a step has so many groups of so many rollouts and is trained once each has its report. */
import type { JsonObject, PendingRecord, Processor, StoredSample } from '../../contract/index.ts'
import { readReport } from './payload.ts'
import { sampleOf } from './reported.ts'
import { GridSteps } from './steps.ts'

/** The slot of a step that a report fills. */
export interface GridPlace {
  readonly step: number
  readonly group: number
  readonly rollout: number
}
export interface GridOptions {
  readonly name: string
  readonly groupsPerStep: number
  readonly rolloutsPerGroup: number
  /** Where a report belongs, or a fixed reason when it belongs nowhere; reasons are counted. */
  readonly place: (report: JsonObject) => GridPlace | string
}

export function gridProcessor({ name, groupsPerStep, rolloutsPerGroup, place }: GridOptions): Processor {
  const steps = new GridSteps(groupsPerStep * rolloutsPerGroup)

  function ingest(record: PendingRecord): string | null {
    if (record.references.length === 0) return 'quotes no receipt'
    const report = readReport(record.payload)
    if (typeof report === 'string') return report
    const sample = sampleOf(record, report)
    if (typeof sample === 'string') return sample
    const at = place(report)
    return typeof at === 'string' ? at : take(at, sample, record)
  }

  function take({ step, group, rollout }: GridPlace, sample: StoredSample, { quoted }: PendingRecord): string | null {
    if (!isWithin(step, Infinity) || !isWithin(group, groupsPerStep) || !isWithin(rollout, rolloutsPerGroup)) return 'is outside the grid'
    const slot = group * rolloutsPerGroup + rollout
    const refusal = steps.refusal(step, slot)
    if (refusal !== null) return refusal
    const releases = quoted.map(({ artifact_ref }) => artifact_ref)
    steps.add({ step, slot, releases, sample: { ...sample, group: `${name}-step-${step}-group-${group}` } })
    return null
  }

  return {
    name,
    modes: ['auto'],
    requestTypes: ['inference', 'report'],
    reads: ['report'],
    ingest,
    next() {
      const samples = steps.front
      return { samples, ready: samples.length > 0 }
    },
    settle(consumed) {
      const gone = new Set(consumed)
      return steps.drop(consumed).filter((id) => !gone.has(id))
    },
    status: () => ({
      groups_per_step: groupsPerStep,
      rollouts_per_group: rolloutsPerGroup,
      buffered_units: steps.wholeCount,
      open_steps: steps.openCount,
      waiting_reports: steps.waitingCount,
      failed_steps: steps.failed.map((step) => ({ step, reason: 'mixed_release_ids' })),
    }),
  }
}

const isWithin = (value: number, end: number): boolean => Number.isSafeInteger(value) && value >= 0 && value < end
