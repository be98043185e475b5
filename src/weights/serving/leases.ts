/** The requests under way, the adapters each of them may still need, and whether a scenario takes more. */
import { unavailable, type Lease, type ServedAdapter } from '../../contract/index.ts'
import { orAborted } from '../../kit/index.ts'

interface Held {
  readonly scenario: string
  /** Named by the request: it may not have reached the engine yet. */
  readonly adapter: string | null
  /** Where its generation is now, in an engine that moves them. */
  on: string | null
}

export class Leases {
  readonly #held = new Set<Held>()
  readonly #waiting = new Set<() => void>()

  get count(): number {
    return this.#held.size
  }

  take(scenario: string, { runtime_load_id, adapter }: ServedAdapter): Lease {
    const held = { scenario, adapter, on: adapter }
    this.#held.add(held)
    return { runtime_load_id, adapter, end: () => this.#end(held) }
  }

  #end(held: Held): void {
    if (!this.#held.delete(held)) return
    for (const look of this.#waiting) look()
  }

  hold(adapter: string): boolean {
    return [...this.#held].some((held) => held.adapter === adapter || held.on === adapter)
  }

  isDrained(scenario: string): boolean {
    return ![...this.#held].some((held) => held.scenario === scenario)
  }

  move(from: string, to: string | null): void {
    for (const held of this.#held) if (held.on === from) held.on = to
  }

  /** Whether the condition holds within so many seconds, and before the signal aborts; checked whenever a request ends. */
  async until(isSo: () => boolean, seconds: number, signal: AbortSignal): Promise<boolean> {
    if (isSo() || signal.aborted) return isSo()
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const look = (): void => {
      if (isSo()) resolve(true)
    }
    const giveUp = (): void => resolve(false)
    const timer = setTimeout(giveUp, seconds * 1000)
    signal.addEventListener('abort', giveUp, { once: true })
    this.#waiting.add(look)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', giveUp)
      this.#waiting.delete(look)
    }
  }
}

/** Closed while the scenario's adapter is replaced in its own slot. */
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

/** Waits for work no longer than its client does. */
export const untilGone = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  orAborted(work, signal, (cause) => unavailable('client_gone', 'the client closed the connection', { cause }))
