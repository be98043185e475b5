/** Training leases: a scenario is trained by the one process that holds its lease. The others stand by. */
import type { StoreLease } from '../contract/index.ts'
import { followLanded } from './elsewhere.ts'
import type { Scenario } from './scenario.ts'
import type { Services } from './services.ts'

/** How often a process asks for a lease that another one holds. */
const LEASE_RETRY_SECONDS = 1

export class Standby {
  readonly #services: Services
  readonly #retry: () => void
  readonly #waiting = new Set<Scenario>()
  #timer: NodeJS.Timeout | null = null
  #isClosed = false
  /** Logged once until the store answers again. */
  #isFailing = false

  /** `retry` is called a second after a lease was refused or lost. */
  constructor(services: Services, retry: () => void) {
    this.#services = services
    this.#retry = retry
  }

  /** The loaded scenarios whose lease is held elsewhere. */
  get waiting(): readonly Scenario[] {
    return [...this.#waiting]
  }

  /** Makes the workers of a scenario that is being loaded, where its lease is free; otherwise the scenario waits for it. Starts nothing. */
  takeAtLoad(scenario: Scenario): Promise<void> {
    return this.#take(scenario, () => followLanded(this.#services, scenario))
  }

  /** The same for a loaded one. */
  take(scenario: Scenario): Promise<void> {
    return this.#take(scenario, () => scenario.lane.run(() => followLanded(this.#services, scenario)))
  }

  async #take(scenario: Scenario, catchUp: () => Promise<unknown>): Promise<void> {
    if (scenario.makeWorkers === null || this.#isClosed) return
    this.#waiting.add(scenario)
    const lease = await this.#ask(scenario.name)
    if (lease === null) return
    try {
      // The previous holder may have landed rows until now.
      await catchUp()
      if (this.#isClosed) return await lease.release()
      scenario.trainUnder(lease)
      this.#waiting.delete(scenario)
      lease.signal.addEventListener('abort', () => this.lose(scenario), { once: true })
    } catch (error) {
      this.#services.warn('a scenario could not be trained; it is tried again', error)
      await lease.release()
      this.#arm()
    }
  }

  async isFree(name: string): Promise<boolean> {
    const lease = await this.#ask(name)
    await lease?.release()
    return lease !== null
  }

  /** Stops the workers: what they would land is refused. */
  lose(scenario: Scenario): void {
    if (this.#isClosed || this.#waiting.has(scenario)) return
    this.#waiting.add(scenario)
    this.#arm()
    const stopped = scenario.stopTraining().finally(() => {
      scenario.workers = []
    })
    stopped.catch((error: unknown) => this.#services.warn('a lost training lease could not be given back', error))
  }

  /** Forgets a scenario that is being unloaded. Answers whether it was waiting. */
  leave(scenario: Scenario): boolean {
    return this.#waiting.delete(scenario)
  }

  close(): void {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  /** A store that cannot answer is no reason not to serve: it is asked again. */
  async #ask(name: string): Promise<StoreLease | null> {
    try {
      const lease = await this.#services.store.lease(`training:${name}`)
      this.#isFailing = false
      if (lease === null) this.#arm()
      return lease
    } catch (error) {
      if (!this.#isFailing) this.#services.warn('a training lease could not be taken; it is tried again', error)
      this.#isFailing = true
      this.#arm()
      return null
    }
  }

  #arm(): void {
    if (this.#isClosed || this.#timer !== null) return
    const ring = (): void => {
      this.#timer = null
      this.#retry()
      if (this.#waiting.size > 0) this.#arm()
    }
    this.#timer = setTimeout(ring, LEASE_RETRY_SECONDS * 1000).unref()
  }
}
