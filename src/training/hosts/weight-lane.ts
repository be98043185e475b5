/** The weight lane: weight trainers only wait for a runtime, so they run on the main thread, one at a time among all processes of the store. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  STEP_ABORT_GRACE_SECONDS,
  type Reporter,
  type StepResult,
  type Store,
  type StoreLease,
  type Trainer,
} from '../../contract/index.ts'
import { orAborted, Slots, wordsOf } from '../../kit/index.ts'
import { keyOf, StepFailure, stopping, timeoutMs, tookTooLong, type StoredOrder, type TrainerSpec, type TrainerHost } from './host.ts'
import { readOrder } from './order.ts'
import { LimitedReporter } from './reporter.ts'
import { parseResult } from './result.ts'
import { inTurnsOf, type StartedStep, type StartStep } from './turns.ts'

export interface WeightLane {
  /** A host in this lane that opens each trainer once. */
  hostFor(open: OpenTrainer): TrainerHost
  close(): Promise<void>
}
type OpenTrainer = (trainer: TrainerSpec) => Trainer | Promise<Trainer>

/** Of all weight jobs of the deployment: a trainer has one at a time, whichever gateway sends it. */
const LEASE = 'weight-jobs'
const ASK_AGAIN_MS = 250

/** One for the whole process; closing any of its hosts closes the lane. */
export function makeWeightLane(store: Pick<Store, 'lease'>): WeightLane {
  const turns = new Slots(1)
  const closing = new AbortController()
  /** There is one turn, so only the latest step may still run. */
  let latestEnded: Promise<void> = Promise.resolve()
  const close = async (): Promise<void> => {
    turns.close(stopping())
    closing.abort(stopping())
    await latestEnded
  }
  const hostFor = (open: OpenTrainer): TrainerHost => {
    const trainers = new WeightTrainers(open)
    const start: StartStep = (trainer, order, report, signal) => {
      const step = trainers.start(trainer, order, report, AbortSignal.any([signal, closing.signal]))
      latestEnded = step.ended
      return step
    }
    const inTurn = inTurnsOf(turns, start)
    return {
      inTurn: (trainer, signal, work) =>
        inTurn(trainer, signal, async (run) => {
          const lease = await leased(store, AbortSignal.any([signal, closing.signal]))
          try {
            return await work((order, report, asked) => run(order, report, AbortSignal.any([asked, lease.signal])))
          } finally {
            void latestEnded.then(() => lease.release())
          }
        }),
      close,
    }
  }
  return { hostFor, close }
}

/** Waits until no other gateway has a weight job out. */
async function leased(store: Pick<Store, 'lease'>, signal: AbortSignal): Promise<StoreLease> {
  for (;;) {
    signal.throwIfAborted()
    // Where the store does not answer now, it is asked again.
    const lease = await store.lease(LEASE).catch(() => null)
    if (lease !== null) return lease
    await sleep(ASK_AGAIN_MS, undefined, { signal })
  }
}

class WeightTrainers {
  readonly #open: OpenTrainer
  readonly #opened = new Map<string, Trainer>()

  constructor(open: OpenTrainer) {
    this.#open = open
  }

  /** The trainer is aborted when the caller aborts and when the step takes too long. */
  start(trainer: TrainerSpec, order: StoredOrder, report: Reporter, signal: AbortSignal): StartedStep {
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

  async #take(trainer: TrainerSpec, order: StoredOrder, report: Reporter, signal: AbortSignal): Promise<StepResult> {
    signal.throwIfAborted()
    const reporter = new LimitedReporter(report)
    signal.addEventListener('abort', () => reporter.close())
    try {
      return await Promise.race([this.#attempt(trainer, order, reporter, signal), graceAfter(signal)])
    } catch (error) {
      // As in a thread: only a successful step keeps its trainer.
      this.#opened.delete(keyOf(trainer))
      throw error
    } finally {
      reporter.close()
    }
  }

  async #attempt(trainer: TrainerSpec, order: StoredOrder, report: Reporter, signal: AbortSignal): Promise<StepResult> {
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

/** A trainer that ignores its abort is abandoned: nothing can end it on this thread. */
async function graceAfter(over: AbortSignal): Promise<never> {
  if (!over.aborted) await once(over, 'abort')
  await sleep(STEP_ABORT_GRACE_SECONDS * 1000)
  throw over.reason
}
