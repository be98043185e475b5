/** Learns from reports: each one with the exchanges it quotes is a unit, or all reports of a group together are. */
import type { JsonObject, PendingRecord, Processor, StoredSample, TrainingMode } from '../../contract/index.ts'
import { Groups, type Grouping } from './groups.ts'
import { feedbackOf, readPayload, taskOf, UNREADABLE } from './payload.ts'
import { oldest, Shelf } from './shelf.ts'

/** Where a report belongs; null when it stands for itself; a few fixed words when it never can be used, which are counted. */
export type GroupOf = (report: JsonObject) => Grouping | null | string

export interface ReportedOptions {
  readonly name: string
  /** In units: a single report or a whole group. */
  readonly batchSize: number
  readonly modes?: readonly TrainingMode[]
  readonly group?: GroupOf
}

export function reportedProcessor({ name, batchSize, modes = ['auto', 'manual', 'hybrid'], group }: ReportedOptions): Processor {
  const shelf = new Shelf()
  const groups = new Groups()

  function ingest(record: PendingRecord): string | null {
    if (record.references.length === 0) return 'quotes no receipt'
    const report = readPayload(record.payload)
    if (report === null) return UNREADABLE
    const sample = sampleOf(record, report)
    if (typeof sample === 'string') return sample
    const grouping = group?.(report) ?? null
    if (typeof grouping === 'string') return grouping
    if (grouping !== null) return collect(grouping, sample)
    shelf.put([sample])
    return null
  }

  function collect(grouping: Grouping, sample: StoredSample): string | null {
    const refusal = groups.refusal(grouping)
    if (refusal !== null) return refusal
    const unit = groups.add(grouping, sample)
    if (unit !== null) shelf.put(unit)
    return null
  }

  /** A report whose exchange another one used up can never be learnt from, and neither can the rest of its group. */
  function settle(consumed: readonly string[]): readonly string[] {
    const gone = new Set(consumed)
    const lost = [...shelf.drop(consumed), ...groups.drop(consumed)]
    return lost.map(reportOf).filter((id) => !gone.has(id))
  }

  return {
    name,
    modes,
    requestTypes: ['inference', 'report'],
    reads: ['report'],
    ingest,
    next: () => oldest(shelf, batchSize),
    settle,
    status: () => ({
      batch_size: batchSize,
      buffered_units: shelf.count,
      ...(group && { open_groups: groups.openCount, waiting_reports: groups.waitingCount }),
    }),
  }
}

/** Several receipts are one trajectory, in the order quoted. The report stands last. Or why there is no sample in it. */
export function sampleOf({ agent_record_id, references, quoted, score }: PendingRecord, report: JsonObject): StoredSample | string {
  const exchanges = quoted.flatMap(({ payload }) => payload ?? [])
  if (exchanges.length < references.length) return 'an exchange it quotes was evicted'
  const record_ids = [...references, agent_record_id]
  return { record_ids, exchanges, score, feedback: feedbackOf(report), ...taskOf(report) }
}

function reportOf({ record_ids }: StoredSample): string {
  return record_ids.at(-1) ?? ''
}
