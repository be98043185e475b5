/** A turn of a host, and the step in it. */
import type { StepResult } from '../../contract/index.ts'
import type { Slots } from '../../kit/index.ts'
import type { RunStep, TrainerSpec, TrainerHost } from './host.ts'

export type StartStep = (trainer: TrainerSpec, ...asked: Parameters<RunStep>) => StartedStep
export interface StartedStep {
  /** Settles at once on an abort, even while the trainer is still stopping. */
  readonly answer: Promise<StepResult>
  /** Resolves when the host is free for another step, however this one ended. */
  readonly ended: Promise<void>
}

/** Runs a step in a turn: the caller gets the answer at once, the next in the queue waits until the step has ended. */
export function inTurnsOf(turns: Slots, start: StartStep): TrainerHost['inTurn'] {
  return async (trainer, signal, work) => {
    const giveBack = await turns.take(signal)
    let ended: Promise<void> = Promise.resolve()
    const run: RunStep = (...asked) => {
      const step = start(trainer, ...asked)
      ended = step.ended
      return step.answer
    }
    try {
      return await work(run)
    } finally {
      void ended.then(giveBack)
    }
  }
}
