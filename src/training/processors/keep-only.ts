/** Learns nothing: what a scenario that only keeps its records has for a processor. */
import type { Processor } from '../../contract/index.ts'

export function keepOnly(name: string): Processor {
  return {
    name,
    modes: ['auto'],
    requestTypes: [],
    reads: [],
    ingest: () => null,
    next: () => ({ samples: [], ready: false }),
    settle: () => [],
    status: () => ({}),
  }
}
