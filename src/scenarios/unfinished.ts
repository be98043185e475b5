/** Scenarios that were unloaded before their trainers were done, oldest first. They are loaded again when there is room. */

/** How often to look for room while none has been announced: a scenario may become idle without having trained. */
const LOOK_AGAIN_SECONDS = 1
/** A scenario that cannot be loaded is tried again, but does not keep the others waiting. */
const FAILED_RETRY_SECONDS = 60

export class Unfinished {
  readonly #resume: () => void
  readonly #names = new Set<string>()
  /** Their retry, by name. */
  readonly #failed = new Map<string, NodeJS.Timeout>()
  #look: NodeJS.Timeout | null = null

  constructor(resume: () => void) {
    this.#resume = resume
  }

  add(name: string): void {
    this.delete(name)
    this.#names.add(name)
  }

  delete(name: string): void {
    this.#names.delete(name)
    clearTimeout(this.#failed.get(name))
    this.#failed.delete(name)
  }

  /** The one that has waited longest. */
  get oldest(): string | undefined {
    const [name] = this.#names
    return name
  }

  /** There is no room: the caller is called again. */
  waitForRoom(): void {
    if (this.#look !== null) return
    const look = (): void => {
      this.#look = null
      this.#resume()
    }
    this.#look = setTimeout(look, LOOK_AGAIN_SECONDS * 1000).unref()
  }

  failed(name: string): void {
    const retry = (): void => {
      this.add(name)
      this.#resume()
    }
    this.delete(name)
    this.#failed.set(name, setTimeout(retry, FAILED_RETRY_SECONDS * 1000).unref())
  }

  close(): void {
    if (this.#look !== null) clearTimeout(this.#look)
    for (const timer of this.#failed.values()) clearTimeout(timer)
  }
}
