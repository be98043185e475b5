/** The weight lane: the trainers that only wait for a runtime, on the main thread, one of the whole process at a time. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reporter, StepResult, Trainer } from '../../contract/index.ts'
import { Lane } from '../../kit/index.ts'
import { keyOf, StepFailure, stopping, type StoredOrder, type TrainerAddress, type TrainerHost } from './host.ts'
import { orAborted } from './or-aborted.ts'
import { readOrder } from './order.ts'
import { Outgoing } from './outgoing.ts'
import { ABORT_GRACE_MS, timeoutMs, tookTooLong } from './patience.ts'
import { parseResult } from './result.ts'
import { Turns } from './turns.ts'
import { wordsOf } from './words.ts'

export interface WeightLane {
  /** A host in this lane, for whoever opens trainers in a way of their own. It opens each trainer once. */
  hostFor(open: OpenTrainer): TrainerHost
  close(): Promise<void>
}
type OpenTrainer = (trainer: TrainerAddress) => Trainer | Promise<Trainer>

/** One for the whole process; closing a host of it closes the lane. */
export function makeWeightLane(): WeightLane {
  const turns = new Turns(1)
  const running = new Set<Running>()
  const close = async (): Promise<void> => {
    turns.close(stopping())
    for (const { over } of running) over.abort(stopping())
    await Promise.allSettled([...running].map(({ ended }) => ended))
  }
  const hostFor = (open: OpenTrainer): TrainerHost => {
    const bench = new WeightBench(open, running)
    const inTurn: TrainerHost['inTurn'] = async (trainer, signal, work) => {
      const giveBack = await turns.take(signal)
      const lane = new Lane()
      try {
        return await work((order, report, stop) => bench.step(lane, trainer, order, report, stop))
      } finally {
        void lane.run(() => Promise.resolve()).then(giveBack)
      }
    }
    return { inTurn, close }
  }
  return { hostFor, close }
}

/** A step, from when it is asked for until its trainer stopped or had its grace to do so. */
interface Running {
  readonly over: AbortController
  readonly ended: Promise<StepResult>
}

class WeightBench {
  readonly #open: OpenTrainer
  readonly #running: Set<Running>
  readonly #opened = new Map<string, Trainer>()

  constructor(open: OpenTrainer, running: Set<Running>) {
    this.#open = open
    this.#running = running
  }

  /** Rejects as soon as it is aborted or takes too long; the lane is free for the next once the step ended. */
  step(lane: Lane, trainer: TrainerAddress, order: StoredOrder, report: Reporter, signal: AbortSignal): Promise<StepResult> {
    const over = new AbortController()
    const stop = (): void => over.abort(signal.reason)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    const running = { over, ended: lane.run(() => this.#take(trainer, order, report, over)) }
    this.#running.add(running)
    const forget = (): void => {
      signal.removeEventListener('abort', stop)
      this.#running.delete(running)
    }
    running.ended.then(forget, forget)
    return orAborted(running.ended, over.signal)
  }

  async #take(trainer: TrainerAddress, order: StoredOrder, report: Reporter, over: AbortController): Promise<StepResult> {
    over.signal.throwIfAborted()
    const timer = setTimeout(() => over.abort(tookTooLong(trainer.limits)), timeoutMs(trainer.limits))
    const outgoing = new Outgoing(report)
    over.signal.addEventListener('abort', () => outgoing.close())
    try {
      return await Promise.race([this.#attempt(trainer, order, outgoing, over.signal), graceAfter(over.signal)])
    } catch (error) {
      // As in a thread: only a step that ended well keeps its trainer.
      this.#opened.delete(keyOf(trainer))
      throw error
    } finally {
      clearTimeout(timer)
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
  await sleep(ABORT_GRACE_MS)
  throw over.reason
}
