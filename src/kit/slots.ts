/** At most so many at once, first come first served; they can be shut for a while, or closed for good. */

interface Waiting {
  readonly enter: () => void
  readonly refuse: (reason: unknown) => void
}

export class Slots {
  readonly #count: number
  /** In the order asked. */
  readonly #waiting = new Set<Waiting>()
  #taken = 0
  #isShut = false
  #closed: Error | null = null
  #whenIdle: (() => void)[] = []

  constructor(count: number) {
    this.#count = count
  }

  get taken(): number {
    return this.#taken
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get isShut(): boolean {
    return this.#isShut
  }

  /** Holds one slot for as long as the work takes. An abort while waiting leaves the queue at once. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const giveBack = await this.take(signal)
    try {
      return await work()
    } finally {
      giveBack()
    }
  }

  /** Resolves with the function that gives the slot back, to be called once. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#closed !== null) throw this.#closed
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const one = { enter: resolve, refuse: reject }
    const leave = (): void => {
      // One that was just given a slot is no longer in the queue, and keeps its slot.
      if (this.#waiting.delete(one)) reject(signal?.reason)
    }
    this.#waiting.add(one)
    signal?.addEventListener('abort', leave)
    this.#letIn()
    await promise.finally(() => signal?.removeEventListener('abort', leave))
    return () => {
      this.#taken -= 1
      this.#letIn()
    }
  }

  /** No slot is given from here on; resolves when all are given back. */
  shut(): Promise<void> {
    this.#isShut = true
    return this.idle()
  }

  open(): void {
    this.#isShut = false
    this.#letIn()
  }

  idle(): Promise<void> {
    if (this.#taken === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  /** Refuses all that wait or ask later. Slots that are out may still be given back. */
  close(reason: Error): void {
    this.#closed = reason
    for (const { refuse } of this.#waiting) refuse(reason)
    this.#waiting.clear()
  }

  /** A slot is counted as taken before its owner runs, so no later one can overtake. */
  #letIn(): void {
    for (const one of this.#waiting) {
      if (this.#isShut || this.#taken >= this.#count) break
      this.#waiting.delete(one)
      this.#taken += 1
      one.enter()
    }
    if (this.#taken > 0) return
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }
}
