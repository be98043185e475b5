/**
 * What starts a step, by training mode:
 *
 * auto    a full batch of traffic. Instructions wait.
 * manual  an instruction, alone. Traffic waits unread.
 * hybrid  the oldest instruction, with the units of the next batch beside it; without an instruction, a full batch.
 *
 * Switching changes what is taken next: a reserved batch finishes as it was reserved.
 */
import type { StoredSample, TrainingMode, TrainRequest } from '../contract/index.ts'

/** A queued instruction; one whose body was evicted can only fail, with that problem. */
export interface Instruction {
  readonly request: TrainRequest
  readonly problem: string | null
}
/** What waits for a step. */
export interface Waiting {
  /** The oldest in the queue. */
  readonly instruction: Instruction | null
  /** The next batch of traffic, and whether it is full. */
  readonly units: { readonly samples: readonly StoredSample[]; readonly ready: boolean }
}
export interface Taken {
  readonly instruction: Instruction | null
  readonly samples: readonly StoredSample[]
}

interface Rule {
  readonly takesInstructions: boolean
  readonly takesTraffic: boolean
}

export const MODES: Readonly<Record<TrainingMode, Rule>> = {
  auto: { takesInstructions: false, takesTraffic: true },
  manual: { takesInstructions: true, takesTraffic: false },
  hybrid: { takesInstructions: true, takesTraffic: true },
}

/** The next step's batch, or null while nothing may start one. */
export function takeNext(mode: TrainingMode, { instruction, units }: Waiting): Taken | null {
  const { takesInstructions, takesTraffic } = MODES[mode]
  if (takesInstructions && instruction !== null) return { instruction, samples: takesTraffic ? units.samples : [] }
  return takesTraffic && units.ready ? { instruction: null, samples: units.samples } : null
}
