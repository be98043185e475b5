/** A circuit breaker: after some failures in a row an upstream rests; then one call tries it, and decides. */

export interface BreakerRules {
  /** In a row; 0 switches the breaker off. */
  readonly failures: number
  readonly restSeconds: number
}

export type BreakerState = 'closed' | 'open' | 'trying'

export class Breaker {
  readonly #rules: BreakerRules
  readonly #clock: () => number
  readonly #changed: (restsUntil: number | null) => void
  #failures = 0
  #restsUntil: number | null = null
  #restsSince = 0
  #isTrying = false

  /** `changed` hears of what this breaker decided, not of what it was told. */
  constructor(rules: BreakerRules, clock: () => number, changed: (restsUntil: number | null) => void = () => undefined) {
    this.#rules = rules
    this.#clock = clock
    this.#changed = changed
  }

  get state(): BreakerState {
    if (this.#restsUntil === null) return 'closed'
    return this.#isTrying ? 'trying' : 'open'
  }

  /** When it may be tried again; null while it is closed. */
  get restsUntil(): number | null {
    return this.#restsUntil
  }

  admits(): boolean {
    if (this.#restsUntil === null) return true
    const now = this.#clock()
    // A clock that was set back says nothing of the time that has passed.
    return !this.#isTrying && (now >= this.#restsUntil || now < this.#restsSince)
  }

  /** Answers whether this call is the one that tries. */
  begin(): boolean {
    this.#isTrying = this.#restsUntil !== null
    return this.#isTrying
  }

  /** A call that began before the rest says nothing about the upstream after it. */
  worked(isTrial: boolean): void {
    this.#failures = 0
    if (!isTrial || this.#restsUntil === null) return
    this.take(null)
    this.#changed(null)
  }

  failed(isTrial: boolean): void {
    this.#failures += 1
    const isEnough = this.#rules.failures > 0 && this.#failures >= this.#rules.failures
    if (this.#restsUntil === null ? !isEnough : !isTrial) return
    this.take(this.#clock() + this.#rules.restSeconds)
    this.#changed(this.#restsUntil)
  }

  /** The caller left before anything was known. */
  left(isTrial: boolean): void {
    if (isTrial) this.#isTrying = false
  }

  /** What another thread found out counts here too. */
  take(restsUntil: number | null): void {
    this.#restsUntil = restsUntil
    this.#restsSince = this.#clock()
    this.#isTrying = false
    this.#failures = 0
  }
}
