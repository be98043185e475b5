/** Evaluations of one context in rounds: what was asked for while one round ran is the next, evaluated together. */
import { setImmediate } from 'node:timers/promises'
import type { Slots } from '../../../src/kit/index.ts'

interface Evaluation {
  readonly isAlone: boolean
  readonly begin: () => Promise<void>
}

export class Rounds {
  /** The gate that `pause` shuts, and the limit on native threads that work at once. */
  readonly #turns: Slots
  readonly #waiting = new Set<Evaluation>()
  #isRunning = false

  constructor(turns: Slots) {
    this.#turns = turns
  }

  /** An abort while it waits leaves at once; what has begun is ended first. Together with others the numbers differ in their last bits. */
  evaluate<T>(work: () => Promise<T>, isAlone: boolean, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const leave = (): void => {
      if (this.#waiting.delete(one)) reject(signal.reason)
    }
    const begin = (): Promise<void> => {
      signal.removeEventListener('abort', leave)
      return work().then(resolve, reject)
    }
    const one: Evaluation = { isAlone, begin }
    this.#waiting.add(one)
    signal.addEventListener('abort', leave)
    if (!this.#isRunning) void this.#run()
    return promise
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.size > 0)
      await this.#turns.run(async () => {
        // Who was answered just now asks for the next token before this goes on.
        await setImmediate()
        await Promise.all(this.#next().map(({ begin }) => begin()))
      })
    this.#isRunning = false
  }

  #next(): readonly Evaluation[] {
    const [first] = this.#waiting
    if (first === undefined) return []
    const chosen = first.isAlone ? [first] : [...this.#waiting].filter(({ isAlone }) => !isAlone)
    for (const one of chosen) this.#waiting.delete(one)
    return chosen
  }
}
