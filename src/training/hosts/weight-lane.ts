/** The weight lane: the trainers that only wait for a runtime, on the main thread, one of the whole process at a time. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { STEP_ABORT_GRACE_SECONDS, type Reporter, type StepResult, type Trainer } from '../../contract/index.ts'
import { wordsOf } from '../../kit/index.ts'
import { keyOf, StepFailure, stopping, type StoredOrder, type TrainerAddress, type TrainerHost } from './host.ts'
import { inTurnsOf, type StartedStep, type StartStep } from './in-turn.ts'
import { orAborted } from './or-aborted.ts'
import { readOrder } from './order.ts'
import { Outgoing } from './outgoing.ts'
import { timeoutMs, tookTooLong } from './patience.ts'
import { parseResult } from './result.ts'
import { Turns } from './turns.ts'

export interface WeightLane {
  /** A host in this lane, for whoever opens trainers in a way of their own. It opens each trainer once. */
  hostFor(open: OpenTrainer): TrainerHost
  close(): Promise<void>
}
type OpenTrainer = (trainer: TrainerAddress) => Trainer | Promise<Trainer>

/** One for the whole process; closing a host of it closes the lane. */
export function makeWeightLane(): WeightLane {
  const turns = new Turns(1)
  const closing = new AbortController()
  /** There is one turn and one step in it, so the latest is the only one that may still run. */
  let latestEnded: Promise<void> = Promise.resolve()
  const close = async (): Promise<void> => {
    turns.close(stopping())
    closing.abort(stopping())
    await latestEnded
  }
  const hostFor = (open: OpenTrainer): TrainerHost => {
    const bench = new WeightBench(open)
    const start: StartStep = (trainer, order, report, signal) => {
      const step = bench.start(trainer, order, report, AbortSignal.any([signal, closing.signal]))
      latestEnded = step.ended
      return step
    }
    return { inTurn: inTurnsOf(turns, start), close }
  }
  return { hostFor, close }
}

class WeightBench {
  readonly #open: OpenTrainer
  readonly #opened = new Map<string, Trainer>()

  constructor(open: OpenTrainer) {
    this.#open = open
  }

  /** The trainer is told to stop when nobody wants its step any more, and when it takes too long. */
  start(trainer: TrainerAddress, order: StoredOrder, report: Reporter, signal: AbortSignal): StartedStep {
    const over = new AbortController()
    const stop = (): void => over.abort(signal.reason)
    const timer = setTimeout(() => over.abort(tookTooLong(trainer.limits)), timeoutMs(trainer.limits))
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    const step = this.#take(trainer, order, report, over.signal)
    const forget = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
    return { answer: orAborted(step, over.signal), ended: step.then(forget, forget) }
  }

  async #take(trainer: TrainerAddress, order: StoredOrder, report: Reporter, signal: AbortSignal): Promise<StepResult> {
    signal.throwIfAborted()
    const outgoing = new Outgoing(report)
    signal.addEventListener('abort', () => outgoing.close())
    try {
      return await Promise.race([this.#attempt(trainer, order, outgoing, signal), graceAfter(signal)])
    } catch (error) {
      // As in a thread: only a step that ended well keeps its trainer.
      this.#opened.delete(keyOf(trainer))
      throw error
    } finally {
      outgoing.close()
    }
  }

  async #attempt(trainer: TrainerAddress, order: StoredOrder, report: Reporter, signal: AbortSignal): Promise<StepResult> {
    try {
      const opened = this.#opened.get(keyOf(trainer)) ?? (await this.#open(trainer))
      signal.throwIfAborted()
      this.#opened.set(keyOf(trainer), opened)
      return parseResult(await opened.step(readOrder(order), report, signal))
    } catch (error) {
      throw new StepFailure(wordsOf(error), { cause: error })
    }
  }
}

/** A trainer that goes on after its grace is left to itself: on this thread nothing can end it. */
async function graceAfter(over: AbortSignal): Promise<never> {
  if (!over.aborted) await once(over, 'abort')
  await sleep(STEP_ABORT_GRACE_SECONDS * 1000)
  throw over.reason
}
