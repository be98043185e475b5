/** Loads the existing scenarios at the start of the service. One that fails to load stops no other. */
import { isRefusal, type ServiceStatus } from '../contract/index.ts'
import { wordsOf } from '../kit/index.ts'
import type { Services } from './services.ts'

/** A slow recipe blocks one of these workers, not the others. */
const LOADED_AT_ONCE = 4

export class Preloading {
  readonly #services: Services
  readonly #errors = new Map<string, string>()

  constructor(services: Services) {
    this.#services = services
  }

  get errors(): ServiceStatus['preload_errors'] {
    return Object.fromEntries(this.#errors)
  }

  /** The scenario was loaded or archived since. */
  forget(name: string): void {
    this.#errors.delete(name)
  }

  async each(names: readonly string[], signal: AbortSignal, load: (name: string, index: number) => Promise<void>): Promise<void> {
    const left = names.entries()
    const work = async (): Promise<void> => {
      for (const [index, name] of left) {
        if (signal.aborted) return
        await load(name, index)
      }
    }
    await Promise.all(Array.from({ length: LOADED_AT_ONCE }, work))
  }

  async try(name: string, load: () => Promise<void>): Promise<void> {
    try {
      await load()
    } catch (error) {
      this.#services.warn(`scenario ${JSON.stringify(name)} could not be loaded at the start`, causeOf(error))
      this.#errors.set(name, error instanceof Error ? `${error.name}: ${wordsOf(error)}` : wordsOf(error))
    }
  }
}

/** The cause of a refusal is for the log, not for callers. */
const causeOf = (error: unknown): unknown => (isRefusal(error) ? (error.detail.cause ?? error) : error)
