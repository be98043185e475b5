/** Connections that are asked nothing new: each is closed after its last answer. */
import type { Connections } from '../common/upstream.ts'

type Dispatcher = Connections['dispatcher']

export class Leaving {
  readonly #dispatchers = new Set<Dispatcher>()

  /** Once `after` has settled nothing is asked of them any more. */
  take(left: readonly Connections[], after: readonly Promise<unknown>[] = []): void {
    for (const { dispatcher } of left) {
      this.#dispatchers.add(dispatcher)
      void this.#close(dispatcher, after)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#dispatchers].map((dispatcher) => dispatcher.destroy()))
  }

  async #close(dispatcher: Dispatcher, after: readonly Promise<unknown>[]): Promise<void> {
    await Promise.allSettled(after)
    await dispatcher.close().catch(() => undefined)
    this.#dispatchers.delete(dispatcher)
  }
}
