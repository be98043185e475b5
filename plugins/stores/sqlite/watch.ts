/** How writing stands, as a thread knows it that uses the store. */
import type { Refusal, Writing } from '../../../src/contract/index.ts'
import { storageFailed } from './refusals.ts'
import { onEnd, type ThreadLine } from './thread.ts'
import { fromWire, type WireRefusal } from './messages/wire.ts'

/** A writer that hangs on a slow disk answers later than this: then what was known before is the answer. */
const LOOK_MS_MAX = 700

/** The writer reports it by itself, and when it is asked to look. */
export class WriterWatch implements Writing {
  readonly #line: ThreadLine
  readonly #listeners: ((trouble: Refusal | null) => void)[] = []
  #trouble: Refusal | null = null
  /** Resolves when the writer has looked. One look at a time, however many ask. */
  #look: PromiseWithResolvers<void> | null = null

  constructor(line: ThreadLine) {
    this.#line = line
    onEnd(line, () => this.#know(this.#trouble ?? storageFailed()))
  }

  async check(): Promise<Refusal | null> {
    if (this.#look === null) {
      this.#look = Promise.withResolvers()
      this.#line.postMessage('look', [])
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, LOOK_MS_MAX)
    await Promise.race([this.#look.promise, promise])
    clearTimeout(timer)
    return this.#trouble
  }

  onChange(listener: (trouble: Refusal | null) => void): void {
    this.#listeners.push(listener)
  }

  found(trouble: WireRefusal | null): void {
    this.#know(trouble === null ? null : fromWire(trouble))
  }

  /** The store closes: that it refuses writes from here on is no news. */
  end(): void {
    this.#listeners.length = 0
  }

  #know(trouble: Refusal | null): void {
    const isNew = trouble?.code !== this.#trouble?.code
    this.#trouble = trouble
    this.#look?.resolve()
    this.#look = null
    if (isNew) for (const listener of this.#listeners) listener(trouble)
  }
}
