/** The smallest processor: every exchange is a sample, and ten of them make a batch. */
import { BATCH_BYTES_MAX, define, type Processor, type StoredSample } from '../../src/contract/index.ts'

const BATCH_SIZE = 10

export default define('processor', { make: everyRecord })

function everyRecord(): Processor {
  /** By record id, oldest first. */
  const waiting = new Map<string, StoredSample>()
  return {
    name: 'every-record',
    modes: ['auto', 'manual', 'hybrid'],
    requestTypes: ['inference'],
    reads: ['inference'],
    ingest({ agent_record_id, payload }) {
      if (payload === null) return 'its body was evicted'
      waiting.set(agent_record_id, { record_ids: [agent_record_id], exchanges: [payload], score: null, feedback: null })
      return null
    },
    next() {
      const samples = oldest(waiting.values())
      return { samples, ready: samples.length === BATCH_SIZE || samples.length < waiting.size }
    },
    /** A sample is one record, so consuming one makes no other useless. */
    settle(consumed) {
      for (const id of consumed) waiting.delete(id)
      return []
    },
    status: () => ({ batch_size: BATCH_SIZE, buffered_units: waiting.size }),
  }
}

/** Limits the size of a batch, which is sent to its trainer whole; one large sample may be a batch alone. */
function oldest(waiting: Iterable<StoredSample>): readonly StoredSample[] {
  const batch: StoredSample[] = []
  let bytes = 0
  for (const sample of waiting) {
    for (const { byteLength } of sample.exchanges) bytes += byteLength
    if (batch.length === BATCH_SIZE || (batch.length > 0 && bytes > BATCH_BYTES_MAX)) break
    batch.push(sample)
  }
  return batch
}
