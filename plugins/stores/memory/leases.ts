/** Who holds which lease, and the newest token of each name. */
import { leaseLost, type Fence, type StoreLease } from '../../../src/contract/index.ts'

export class HeldLeases {
  readonly #tokens = new Map<string, number>()
  readonly #held = new Map<string, AbortController>()

  take(name: string): StoreLease | null {
    if (this.#held.has(name)) return null
    const token = (this.#tokens.get(name) ?? 0) + 1
    const holder = new AbortController()
    this.#tokens.set(name, token)
    this.#held.set(name, holder)
    const release = async (): Promise<void> => {
      if (this.#held.get(name) === holder) this.#held.delete(name)
    }
    return { name, token, signal: holder.signal, release }
  }

  check({ name, token }: Fence): void {
    if (this.#tokens.get(name) !== token) throw leaseLost(name)
  }

  /** The store closes: every holder has lost. */
  loseAll(): void {
    const holders = [...this.#held.values()]
    this.#held.clear()
    for (const holder of holders) holder.abort()
  }
}
