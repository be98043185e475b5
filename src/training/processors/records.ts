/** Learns from plain traffic: every exchange is a unit without a score. */
import type { Processor, TrainingMode } from '../../contract/index.ts'
import { oldest, Shelf } from './shelf.ts'

export interface RecordsOptions {
  readonly name: string
  readonly batchSize: number
  readonly modes?: readonly TrainingMode[]
}

export function recordsProcessor({ name, batchSize, modes = ['auto', 'manual', 'hybrid'] }: RecordsOptions): Processor {
  const shelf = new Shelf()
  return {
    name,
    modes,
    requestTypes: ['inference'],
    reads: ['inference'],
    ingest({ agent_record_id, payload }) {
      if (payload === null) return 'its body was evicted'
      shelf.put([{ record_ids: [agent_record_id], exchanges: [payload], score: null, feedback: null }])
      return null
    },
    next: () => oldest(shelf, batchSize),
    /** A unit is one record, so none is lost to another. */
    settle(consumed) {
      shelf.drop(consumed)
      return []
    },
    status: () => ({ batch_size: batchSize, buffered_units: shelf.count }),
  }
}
