/** A number of places that are taken one after the other, first come first served, and a door that can be shut before them. */

export class Slots {
  readonly #count: number
  readonly #waiting = new Set<() => void>()
  #taken = 0
  #isShut = false
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

  /** Holds one place for as long as the work takes. Whoever gives up while waiting leaves the queue at once. */
  async during<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(signal)
    try {
      return await work()
    } finally {
      this.#taken -= 1
      this.#letIn()
    }
  }

  /** Nobody enters from here on; resolves when those inside are out. */
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

  #enter(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(reasonOf(signal))
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#waiting.delete(enter)
        reject(reasonOf(signal))
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.add(enter)
      this.#letIn()
    })
  }

  #letIn(): void {
    for (const enter of this.#waiting) {
      if (this.#isShut || this.#taken >= this.#count) break
      this.#waiting.delete(enter)
      this.#taken += 1
      enter()
    }
    if (this.#taken > 0) return
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }
}

const reasonOf = (signal: AbortSignal): Error => (signal.reason instanceof Error ? signal.reason : new Error('given up'))
