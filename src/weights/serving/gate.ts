/** Whether a scenario takes requests: closed while its adapter is being replaced in its own place. */
import { untilGone } from './until-gone.ts'

export class Gate {
  #opening: PromiseWithResolvers<void> | null = null

  get isOpen(): boolean {
    return this.#opening === null
  }

  close(): void {
    this.#opening ??= Promise.withResolvers()
  }

  open(): void {
    this.#opening?.resolve()
    this.#opening = null
  }

  /** It may be closed again by the time the caller runs: look before going through. */
  async opened(signal: AbortSignal): Promise<void> {
    if (this.#opening !== null) await untilGone(this.#opening.promise, signal)
  }
}
