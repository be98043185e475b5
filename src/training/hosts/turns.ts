/** A bounded number of turns, given to whoever has waited longest. */

interface Place {
  readonly take: () => void
  readonly refuse: (reason: unknown) => void
}

export class Turns {
  #free: number
  /** In the order asked. */
  readonly #waiting = new Set<Place>()
  #closed: Error | null = null

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Answers with what gives the turn back, to be called once. An abort while waiting gives the place up. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#closed !== null) throw this.#closed
    if (this.#free > 0) this.#free -= 1
    else await this.#queue(signal)
    return () => this.#giveBack()
  }

  /** Nobody gets a turn any more; those that are out may still be given back. */
  close(reason: Error): void {
    this.#closed = reason
    for (const place of this.#waiting) place.refuse(reason)
    this.#waiting.clear()
  }

  async #queue(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const place = { take: resolve, refuse: reject }
    const leave = (): void => {
      // A place that was just given a turn is no longer in the queue, and keeps its turn.
      if (this.#waiting.delete(place)) reject(signal.reason)
    }
    this.#waiting.add(place)
    signal.addEventListener('abort', leave)
    await promise.finally(() => signal.removeEventListener('abort', leave))
  }

  /** Handed on directly: whoever asks at this moment cannot get in front. */
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
