/** Learns from complete imported examples: each carries its own score and feedback, and the last batch of an import may be a short one. */
import type { Processor } from '../../contract/index.ts'
import { feedbackOf, readPayload, taskOf, UNREADABLE } from './payload.ts'
import type { RecordsOptions } from './records.ts'
import { oldest, Shelf } from './shelf.ts'

export function datasetProcessor({ name, batchSize, modes = ['auto', 'hybrid'] }: RecordsOptions): Processor {
  const shelf = new Shelf()
  return {
    name,
    modes,
    requestTypes: ['inference'],
    reads: ['inference'],
    ingest({ agent_record_id, payload, score }) {
      const example = readPayload(payload)
      if (payload === null || example === null) return UNREADABLE
      shelf.put([{ record_ids: [agent_record_id], exchanges: [payload], score, feedback: feedbackOf(example), ...taskOf(example) }])
      return null
    },
    next(drained) {
      const { samples, ready } = oldest(shelf, batchSize)
      return { samples, ready: ready || (drained && samples.length > 0) }
    },
    /** A unit is one record, so none is lost to another. */
    settle(consumed) {
      shelf.drop(consumed)
      return []
    },
    status: () => ({ batch_size: batchSize, buffered_units: shelf.count }),
  }
}
