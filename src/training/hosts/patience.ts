/** How long a step may take, the same in a thread and in the weight lane. */
import { StepFailure, type StepLimits } from './host.ts'

/** Timers hold no more; a step that takes longer than 24 days is not ended by this process. */
const TIMER_MS_MAX = 2 ** 31 - 1

export function timeoutMs({ timeoutSeconds }: StepLimits): number {
  return Math.min(timeoutSeconds * 1000, TIMER_MS_MAX)
}

export function tookTooLong({ timeoutSeconds }: StepLimits): StepFailure {
  return new StepFailure(`the step took longer than ${timeoutSeconds} s and was ended; raise training.step_timeout_s or give it less to do`)
}
