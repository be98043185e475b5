/** A circuit breaker: after some failures in a row an upstream rests; then one call tries it, and decides. */

export interface BreakerRules {
  /** In a row; 0 switches the breaker off. */
  readonly failures: number
  readonly restSeconds: number
}

export type BreakerState = 'closed' | 'open' | 'trying'

/** `status`: of the answer that failed last, 0 where none came. */
type RestChanged = (restsUntil: number | null, status: number) => void

export class Breaker {
  readonly #rules: BreakerRules
  readonly #clock: () => number
  readonly #changed: RestChanged
  #failures = 0
  #lastStatus = 0
  #restsUntil: number | null = null
  #restsSince = 0
  #isTrying = false

  /** `changed` hears of what this breaker decided, not of what it was told. */
  constructor(rules: BreakerRules, clock: () => number, changed: RestChanged = () => undefined) {
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

  /** The status of the answer that failed last, 0 where none came: the reason of the rest. */
  get lastStatus(): number {
    return this.#lastStatus
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
    this.#changed(null, 0)
  }

  failed(isTrial: boolean, status = 0): void {
    this.#failures += 1
    const isEnough = this.#rules.failures > 0 && this.#failures >= this.#rules.failures
    if (this.#restsUntil === null ? !isEnough : !isTrial) return
    this.take(this.#clock() + this.#rules.restSeconds, status)
    this.#changed(this.#restsUntil, status)
  }

  /** The caller left before anything was known. */
  left(isTrial: boolean): void {
    if (isTrial) this.#isTrying = false
  }

  /** The findings of another thread count here too. */
  take(restsUntil: number | null, status = 0): void {
    this.#restsUntil = restsUntil
    this.#lastStatus = status
    this.#restsSince = this.#clock()
    this.#isTrying = false
    this.#failures = 0
  }
}

/** More models of one upstream are not told apart. A longer name is kept with all such names. */
const MODELS_MAX = 256
const NAME_CHARACTERS_MAX = 256

/** The breakers of one upstream, one for each model: a model that is overloaded says nothing of the others. */
export class Breakers {
  readonly #rules: BreakerRules
  readonly #clock: () => number
  readonly #changed: (model: string, ...rest: Parameters<RestChanged>) => void
  /** Only models that failed lately have one. */
  readonly #byModel = new Map<string, Breaker>()

  constructor(rules: BreakerRules, clock: () => number, changed: (model: string, ...rest: Parameters<RestChanged>) => void) {
    this.#rules = rules
    this.#clock = clock
    this.#changed = changed
  }

  /** Null where nothing is held against the model. */
  of(model: string): Breaker | null {
    return this.#byModel.get(keyOf(model)) ?? null
  }

  /** The models that rest. */
  get resting(): ReadonlyMap<string, Breaker> {
    return new Map([...this.#byModel].filter(([, { state }]) => state !== 'closed'))
  }

  worked(model: string, isTrial: boolean): void {
    const breaker = this.of(model)
    breaker?.worked(isTrial)
    if (breaker?.state === 'closed') this.#byModel.delete(keyOf(model))
  }

  failed(model: string, isTrial: boolean, status: number): void {
    this.#made(model).failed(isTrial, status)
  }

  /** The findings of another thread count here too. */
  take(model: string, restsUntil: number | null, status: number): void {
    if (restsUntil === null) this.#byModel.delete(keyOf(model))
    else this.#made(model).take(restsUntil, status)
  }

  #made(model: string): Breaker {
    const known = this.of(model)
    if (known !== null) return known
    const [oldest] = this.#byModel.keys()
    if (oldest !== undefined && this.#byModel.size >= MODELS_MAX) this.#byModel.delete(oldest)
    const made = new Breaker(this.#rules, this.#clock, (...rest) => this.#changed(keyOf(model), ...rest))
    this.#byModel.set(keyOf(model), made)
    return made
  }
}

const keyOf = (model: string): string => (model.length > NAME_CHARACTERS_MAX ? '' : model)
