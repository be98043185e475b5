/** Chunks pushed by a connection, pulled by a loop, with the connection paused while too much waits. */
import type { Dispatcher } from 'undici'

const WAITING_BYTES_MAX = 256 * 1024
/** A stream read to its last event usually ends at once: this long it may, so that its connection can be used again. */
const END_GRACE_MS = 50

export class ChunkQueue implements AsyncIterableIterator<Uint8Array> {
  readonly #controller: Dispatcher.DispatchController
  readonly #signal: AbortSignal
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #isOver = false
  #error: unknown = null
  #isLeft = false
  #pull: { resolve: (result: IteratorResult<Uint8Array>) => void; reject: (error: unknown) => void } | null = null

  constructor(controller: Dispatcher.DispatchController, signal: AbortSignal) {
    this.#controller = controller
    this.#signal = signal
  }

  push(chunk: Buffer): void {
    if (this.#isLeft) return
    const pull = this.#pull
    if (pull !== null) {
      this.#pull = null
      pull.resolve({ done: false, value: chunk })
      return
    }
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#controller.pause()
  }

  end(): void {
    this.#isOver = true
    this.#pull?.resolve({ done: true, value: undefined })
  }

  fail(error: unknown): void {
    this.#isOver = true
    this.#error = error
    this.#pull?.reject(error)
  }

  /** Once the call is given up nothing follows, whatever came before. */
  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#signal.aborted) return Promise.reject(this.#error ?? new Error('the caller went away'))
    const chunk = this.#waiting.shift()
    if (chunk !== undefined) {
      this.#waitingBytes -= chunk.length
      if (this.#controller.paused && this.#waitingBytes <= WAITING_BYTES_MAX) this.#controller.resume()
      return Promise.resolve({ done: false, value: chunk })
    }
    if (this.#error !== null) return Promise.reject(this.#error)
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve, reject) => {
      this.#pull = { resolve, reject }
    })
  }

  /** Leaving early lets the rest pass unread for a moment, then cancels the call. */
  return(): Promise<IteratorResult<Uint8Array>> {
    this.#isLeft = true
    this.#waiting = []
    if (!this.#isOver) {
      if (this.#controller.paused) this.#controller.resume()
      setTimeout(() => {
        if (!this.#isOver) this.#controller.abort(new Error('the stream was left'))
      }, END_GRACE_MS).unref()
    }
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
