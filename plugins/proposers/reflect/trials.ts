/** Counts the episodes that a step may play; when they are spent, the step goes on with what it knows. */
import type { Brief, Mutation, Task, Trial } from '../../../src/contract/index.ts'

export class Trials {
  readonly #brief: Brief
  #left: number

  constructor(brief: Brief, max: number) {
    this.#brief = brief
    this.#left = max
  }

  get left(): number {
    return this.#left
  }

  /** Null when no episode is left, here or in the step's budget. */
  async play(mutations: readonly Mutation[], task: Task): Promise<Trial | null> {
    if (this.#left <= 0) return null
    this.#left -= 1
    try {
      return await this.#brief.trial(mutations, task)
    } catch {
      this.#brief.signal.throwIfAborted()
      this.#brief.report.line('trial', 'no further episode could be played; going on with what is known', true)
      this.#left = 0
      return null
    }
  }
}
