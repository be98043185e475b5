/** A bounded number of turns, first come first served. */
import type { StepResult } from '../../contract/index.ts'
import type { RunStep, TrainerSpec, TrainerHost } from './host.ts'

interface Place {
  readonly take: () => void
  readonly refuse: (reason: unknown) => void
}

export class Turns {
  #free: number
  readonly #waiting = new Set<Place>()
  #closed: Error | null = null

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Answers a function that gives the turn back, to be called once. An abort while waiting leaves the queue. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#closed !== null) throw this.#closed
    if (this.#free > 0) this.#free -= 1
    else await this.#queue(signal)
    return () => this.#giveBack()
  }

  /** No further turns are given; those taken may still be given back. */
  close(reason: Error): void {
    this.#closed = reason
    for (const place of this.#waiting) place.refuse(reason)
    this.#waiting.clear()
  }

  async #queue(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const place = { take: resolve, refuse: reject }
    const leave = (): void => {
      // Once given a turn, it is no longer in the queue and keeps the turn.
      if (this.#waiting.delete(place)) reject(signal.reason)
    }
    this.#waiting.add(place)
    signal.addEventListener('abort', leave)
    await promise.finally(() => signal.removeEventListener('abort', leave))
  }

  /** Handed on directly, so that a new caller cannot overtake the queue. */
  #giveBack(): void {
    const [oldest] = this.#waiting
    if (oldest === undefined) {
      this.#free += 1
      return
    }
    this.#waiting.delete(oldest)
    oldest.take()
  }
}

export type StartStep = (trainer: TrainerSpec, ...asked: Parameters<RunStep>) => StartedStep
export interface StartedStep {
  /** Settles at once on an abort, even while the trainer is still stopping. */
  readonly answer: Promise<StepResult>
  /** Resolves when the host is free for another step, however this one ended. */
  readonly ended: Promise<void>
}

/** Runs a step in a turn: the caller gets the answer at once, the next in the queue waits until the step has ended. */
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

/** The result of the work, or the signal's reason as soon as it aborts; then the work's result is dropped. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const stop = (): void => reject(signal.reason)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  // A rejection that is not awaited must not end the process.
  promise.catch(() => undefined)
  return promise
}
