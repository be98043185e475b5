/** Trains on single records: plain traffic without scores, or complete imported examples with their own score and feedback. */
import type { PendingRecord, Processor, StoredSample, TrainingMode } from '../../contract/index.ts'
import { feedbackOf, readPayload, taskOf, UNREADABLE } from './payload.ts'
import { oldest, UnitQueue } from './unit-queue.ts'

export interface RecordsProcessorOptions {
  readonly name: string
  readonly batchSize: number
  readonly modes?: readonly TrainingMode[]
}

/** Every exchange is a unit without a score. */
export function recordsProcessor({ modes = ['auto', 'manual', 'hybrid'], ...options }: RecordsProcessorOptions): Processor {
  return singleRecords({ ...options, modes }, ({ agent_record_id, payload }) =>
    payload === null ? 'its body was evicted' : { record_ids: [agent_record_id], exchanges: [payload], score: null, feedback: null },
  )
}

/** Every imported example is a unit, and the last batch of an import may be short. */
export function datasetProcessor({ modes = ['auto', 'hybrid'], ...options }: RecordsProcessorOptions): Processor {
  const processor = singleRecords({ ...options, modes }, ({ agent_record_id, payload, score }) => {
    const example = readPayload(payload)
    if (payload === null || example === null) return UNREADABLE
    return { record_ids: [agent_record_id], exchanges: [payload], score, feedback: feedbackOf(example), ...taskOf(example) }
  })
  return {
    ...processor,
    next(drained) {
      const { samples, ready } = processor.next(drained)
      return { samples, ready: ready || (drained && samples.length > 0) }
    },
  }
}

/** `read` answers the sample of a record, or why there is none. */
function singleRecords(
  { name, batchSize, modes }: Required<RecordsProcessorOptions>,
  read: (record: PendingRecord) => StoredSample | string,
): Processor {
  const queue = new UnitQueue()
  return {
    name,
    modes,
    requestTypes: ['inference'],
    reads: ['inference'],
    ingest(record) {
      const sample = read(record)
      if (typeof sample === 'string') return sample
      queue.put([sample])
      return null
    },
    next: () => oldest(queue, batchSize),
    settle(consumed) {
      queue.drop(consumed)
      return []
    },
    status: () => ({ batch_size: batchSize, buffered_units: queue.count }),
  }
}
