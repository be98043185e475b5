/** Trains on reports: a unit is one report with the exchanges it quotes, or all reports of a group. */
import type { JsonObject, PendingRecord, Processor, StoredSample, TrainingMode } from '../../contract/index.ts'
import { OpenGroups, type GroupOf, type Grouping } from './groups.ts'
import { feedbackOf, readReport, taskOf } from './payload.ts'
import { oldest, UnitQueue } from './unit-queue.ts'

export interface ReportedOptions {
  readonly name: string
  /** Counted in units: single reports or whole groups. */
  readonly batchSize: number
  readonly modes?: readonly TrainingMode[]
  readonly group?: GroupOf
}

export function reportedProcessor({ name, batchSize, modes = ['auto', 'manual', 'hybrid'], group }: ReportedOptions): Processor {
  const queue = new UnitQueue()
  const groups = new OpenGroups()

  function ingest(record: PendingRecord): string | null {
    if (record.references.length === 0) return 'quotes no receipt'
    const report = readReport(record.payload)
    if (typeof report === 'string') return report
    const sample = sampleOf(record, report)
    if (typeof sample === 'string') return sample
    const grouping = group?.(report) ?? null
    if (typeof grouping === 'string') return grouping
    if (grouping !== null) return collect(grouping, sample)
    queue.put([sample])
    return null
  }

  function collect(grouping: Grouping, sample: StoredSample): string | null {
    const refusal = groups.refusal(grouping)
    if (refusal !== null) return refusal
    const unit = groups.add(grouping, sample)
    if (unit !== null) queue.put(unit)
    return null
  }

  /** A report whose exchange was consumed with another report is unusable, and so is the rest of its group. */
  function settle(consumed: readonly string[]): readonly string[] {
    const gone = new Set(consumed)
    const lost = [...queue.drop(consumed), ...groups.drop(consumed)]
    return lost.map(reportOf).filter((id) => !gone.has(id))
  }

  return {
    name,
    modes,
    requestTypes: ['inference', 'report'],
    reads: ['report'],
    ingest,
    next: () => oldest(queue, batchSize),
    settle,
    status: () => ({
      batch_size: batchSize,
      buffered_units: queue.count,
      ...(group && { open_groups: groups.openCount, waiting_reports: groups.waitingCount }),
    }),
  }
}

/** Several receipts are one trajectory, in the order quoted; the report's id comes last. Answers a reason when there is no sample. */
export function sampleOf({ agent_record_id, references, quoted, score }: PendingRecord, report: JsonObject): StoredSample | string {
  const exchanges = quoted.flatMap(({ payload }) => payload ?? [])
  if (exchanges.length < references.length) return 'an exchange it quotes was evicted'
  const record_ids = [...references, agent_record_id]
  return { record_ids, exchanges, score, feedback: feedbackOf(report), ...taskOf(report) }
}

function reportOf({ record_ids }: StoredSample): string {
  return record_ids.at(-1) ?? ''
}
