/** A turn and the step in it: whoever asked has the answer at once, and the next in the queue waits until that step has ended. */
import type { StepResult } from '../../contract/index.ts'
import type { RunStep, TrainerAddress, TrainerHost } from './host.ts'
import type { Turns } from './turns.ts'

export type StartStep = (trainer: TrainerAddress, ...asked: Parameters<RunStep>) => StartedStep
export interface StartedStep {
  /** Comes at once on an abort, even while the trainer still has to stop. */
  readonly answer: Promise<StepResult>
  /** Resolves when the place where it ran is free for another, whatever became of the step. */
  readonly ended: Promise<void>
}

export function inTurnsOf(turns: Turns, start: StartStep): TrainerHost['inTurn'] {
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
