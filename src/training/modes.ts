/**
 * What starts a step, by training mode:
 *
 * auto    a full batch of traffic. Instructions wait.
 * manual  an instruction, alone. Traffic waits unread.
 * hybrid  an instruction first, oldest first, with whatever units a batch would take next riding beside it; without one, a full batch.
 *
 * Switching changes what is taken next, never what was taken: a reserved batch finishes as it was reserved.
 */
import type { StoredSample, TrainingMode, TrainRequest } from '../contract/index.ts'

/** An instruction in the queue; one whose body is gone can only fail, and says why. */
export interface Instruction {
  readonly request: TrainRequest
  readonly problem: string | null
}
/** What waits for a step. */
export interface Waiting {
  /** The oldest in the queue. */
  readonly instruction: Instruction | null
  /** What the next batch of traffic would hold, and whether it is full. */
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
