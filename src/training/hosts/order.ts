/** Parses the exchanges of an order in the thread that runs the step, so that the main thread does not pay for it. */
import { isObject, type Json, type JsonObject, type Sample, type StepOrder, type StoredSample } from '../../contract/index.ts'
import { StepFailure, type StoredOrder } from './host.ts'

export function readOrder(stored: StoredOrder): StepOrder {
  return { ...stored, batch: { ...stored.batch, samples: stored.batch.samples.map(readSample) } }
}

function readSample(sample: StoredSample): Sample {
  return { ...sample, exchanges: sample.exchanges.map((text, index) => readExchange(text, sample.record_ids[index])) }
}

function readExchange(text: Uint8Array, recordId = 'of no name'): JsonObject {
  const exchange = parsed(text)
  if (isObject(exchange)) return exchange
  throw new StepFailure(`record ${recordId}: its stored body is not a JSON object; svc verify names every damaged record`)
}

function parsed(text: Uint8Array): Json | undefined {
  try {
    return JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString())
  } catch {
    return undefined
  }
}
