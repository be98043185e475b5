/** Writes that are tried again while the connection is gone, and how writing stands. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isRefusal, type Refusal, type Writing } from '../../../src/contract/index.ts'
import { within } from '../../../src/kit/index.ts'
import { isAway, isDeadlock, refusalOf } from './refusals.ts'

/** A server that starts again, or a standby that takes over, is waited for this long. */
const TRY_MS_MAX = 4000
const TRY_AGAIN_MS = 200
const CHECK_SECONDS_MAX = 0.7

/** Only a write shows that these are over. */
const NEEDS_WRITE: ReadonlySet<string> = new Set(['disk_full', 'storage_failed'])
/** That the server answers again says nothing of these. */
const LASTING: ReadonlySet<string> = new Set([...NEEDS_WRITE, 'store_forbidden', 'store_read_only'])

type Work<T> = (isAgain: boolean) => Promise<T>

export class Trying implements Writing {
  readonly #probe: (mustWrite: boolean) => Promise<unknown>
  readonly #listeners: ((trouble: Refusal | null) => void)[] = []
  #trouble: Refusal | null = null
  #isClosing = false

  /** The probe finds out whether a write would go through, where it must by writing. */
  constructor(probe: (mustWrite: boolean) => Promise<unknown>) {
    this.#probe = probe
  }

  /** The work may run several times, and once more after it succeeded without our knowing: then it is told so. */
  async run<T>(work: Work<T>): Promise<T> {
    const since = performance.now()
    for (let isAgain = false; ; isAgain = true) {
      try {
        const result = await work(isAgain)
        this.succeeded()
        return result
      } catch (error) {
        const isPassing = isAway(error) || isDeadlock(error)
        if (!isPassing || this.#isClosing || performance.now() - since > TRY_MS_MAX) throw this.failed(error)
        await sleep(TRY_AGAIN_MS)
      }
    }
  }

  succeeded(): void {
    this.#know(null)
  }

  /** The server answers. */
  reached(): void {
    if (!LASTING.has(this.#trouble?.code ?? '')) this.#know(null)
  }

  /** What a call may not do is no trouble of the store. */
  failed(error: unknown): Refusal {
    const refusal = refusalOf(error)
    if (!isRefusal(error) || error.kind === 'unavailable') this.#know(refusal)
    return refusal
  }

  async check(): Promise<Refusal | null> {
    await within(CHECK_SECONDS_MAX, this.#probe(NEEDS_WRITE.has(this.#trouble?.code ?? ''))).then(
      () => this.succeeded(),
      (error: unknown) => void (error instanceof Error && error.message.startsWith('no answer') ? null : this.failed(error)),
    )
    return this.#trouble
  }

  onChange(listener: (trouble: Refusal | null) => void): void {
    this.#listeners.push(listener)
  }

  /** The store closes: nothing is tried again, and what fails is no news. */
  end(): void {
    this.#isClosing = true
    this.#listeners.length = 0
  }

  #know(trouble: Refusal | null): void {
    const isNew = trouble?.code !== this.#trouble?.code
    this.#trouble = trouble
    if (isNew) for (const listener of this.#listeners) listener(trouble)
  }
}
