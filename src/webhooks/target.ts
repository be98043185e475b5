/** One target: it is told of one row after the other, each until it took it. What it does holds up nothing but itself. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Commit, Store } from '../contract/index.ts'
import { wordsOf } from '../kit/index.ts'
import { messagesOf, type ToldRow, type WebhookEvent, type WebhookMessage } from './events.ts'
import type { Positions } from './positions.ts'
import { sendWebhook } from './send.ts'
import { signedHeaders } from './signature.ts'

const ROWS_AT_ONCE = 50
/** The step of the row that makes a scenario, of which nothing is told. */
const CREATION = 0
const PAUSE_SECONDS_FIRST = 1
const PAUSE_SECONDS_MAX = 600
/** An event that nobody took for so long is left out, so that the later ones come through. */
const GIVE_UP_SECONDS = 3 * 24 * 3600

export interface WebhookSettings {
  readonly name: string
  readonly url: string
  readonly secret: string
  readonly events: ReadonlySet<WebhookEvent>
  readonly allowsInside: boolean
}

export interface WebhookNeeds {
  readonly store: Store
  readonly clock: () => number
  /** What the service knows of a row beside the row itself. */
  readonly told: (scenario: string, row: Commit) => Promise<Pick<ToldRow, 'error' | 'budget'>>
  readonly log: (level: 'warn' | 'error', event: string, fields: Record<string, string | number>) => void
  readonly send?: typeof sendWebhook
  readonly pause?: (seconds: number, signal: AbortSignal) => Promise<void>
}

const pauseFor = async (seconds: number, signal: AbortSignal): Promise<void> => sleep(seconds * 1000, undefined, { signal, ref: false })

export class WebhookTarget {
  readonly #settings: WebhookSettings
  readonly #needs: WebhookNeeds
  readonly #positions: Positions
  readonly #waiting = new Set<string>()
  /** Scenarios that were archived since the row that is being told was read. */
  readonly #archived = new Set<string>()
  readonly #closing = new AbortController()
  #working: Promise<void> | null = null
  #telling: string | null = null
  delivered = 0
  failed = 0

  constructor(settings: WebhookSettings, positions: Positions, needs: WebhookNeeds) {
    this.#settings = settings
    this.#positions = positions
    this.#needs = needs
  }

  get name(): string {
    return this.#settings.name
  }

  /** Scenarios with rows that the target may not have been told of, with the one that it is being told of. */
  get waiting(): number {
    const isOneMore = this.#telling !== null && !this.#waiting.has(this.#telling)
    return this.#waiting.size + (isOneMore ? 1 : 0)
  }

  wake(scenario: string): void {
    this.#waiting.add(scenario)
    if (this.#closing.signal.aborted) return
    this.#working ??= this.#work().finally(() => {
      this.#working = null
      // A row may have landed since the queue was found empty.
      const [next] = this.#waiting
      if (next !== undefined) this.wake(next)
    })
  }

  forget(scenario: string): void {
    this.#waiting.delete(scenario)
    this.#archived.add(scenario)
    this.#positions.forget(scenario)
  }

  /** What was not delivered is delivered after the next start. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#working
  }

  /** Never rejects. A store or a disk that fails is tried again as a target is. */
  async #work(): Promise<void> {
    let failures = 0
    for (const scenario of this.#queue()) {
      try {
        // Deleted first: a row that lands meanwhile adds it again.
        this.#waiting.delete(scenario)
        this.#telling = scenario
        await this.#tell(scenario)
        failures = 0
      } catch (error) {
        this.#waiting.add(scenario)
        failures += 1
        await this.#rest(failures, { scenario, error: wordsOf(error) })
      } finally {
        this.#telling = null
      }
    }
  }

  *#queue(): Generator<string> {
    while (!this.#closing.signal.aborted) {
      const [next] = this.#waiting
      if (next === undefined) return
      yield next
    }
  }

  async #tell(scenario: string): Promise<void> {
    const { store, told } = this.#needs
    this.#archived.clear()
    // Another scenario has this name now: the one before was archived while the service was down, or its position was not kept.
    if (!(await this.#isToldRowThere(scenario))) this.#positions.forget(scenario)
    for (;;) {
      const after = this.#positions.of(scenario)?.step ?? CREATION
      const rows = await store.scenario(scenario).commits({ after, limit: ROWS_AT_ONCE })
      for (const row of rows) {
        const messages = messagesOf({ scenario, row, ...(await told(scenario, row)) }, this.#settings.events)
        for (const message of messages) await this.#deliver(message, row)
        // Another scenario may have this name by now, and begins at its first step.
        if (this.#archived.has(scenario)) return
        this.#positions.move(scenario, row)
        if (messages.length > 0) await this.#positions.keep()
      }
      if (rows.length < ROWS_AT_ONCE) return
      // Rows of which nothing is told are not read again after every start.
      await this.#positions.keep()
    }
  }

  async #isToldRowThere(scenario: string): Promise<boolean> {
    const told = this.#positions.of(scenario)
    if (told === null) return false
    const [row] = await this.#needs.store.scenario(scenario).commits({ after: told.step - 1, limit: 1 })
    return row?.step === told.step && row.recorded_at === told.recorded_at
  }

  async #deliver(message: WebhookMessage, row: Commit): Promise<void> {
    for (let failures = 1; ; failures += 1) {
      const problem = await this.#try(message)
      if (problem === null) {
        this.delivered += 1
        return
      }
      this.#closing.signal.throwIfAborted()
      this.failed += 1
      const about = { message: message.id, event: message.event, error: problem }
      if (this.#needs.clock() - row.recorded_at > GIVE_UP_SECONDS)
        return this.#needs.log('error', 'webhook_given_up', { webhook: this.name, ...about })
      await this.#rest(failures, about)
      this.#closing.signal.throwIfAborted()
    }
  }

  /** Null where the target took it. */
  async #try({ id, body }: WebhookMessage): Promise<string | null> {
    const { url, secret, allowsInside } = this.#settings
    const headers = signedHeaders({ id, at: Math.floor(this.#needs.clock()), body }, secret)
    const send = this.#needs.send ?? sendWebhook
    try {
      const status = await send({ url, headers, body, allowsInside, signal: this.#closing.signal })
      return status >= 200 && status < 300 ? null : `the target answered ${status}`
    } catch (error) {
      return wordsOf(error)
    }
  }

  /** Ends at once when the target is closed. */
  async #rest(failures: number, about: Record<string, string>): Promise<void> {
    if (this.#closing.signal.aborted) return
    const seconds = Math.min(PAUSE_SECONDS_FIRST * 2 ** (failures - 1), PAUSE_SECONDS_MAX)
    this.#needs.log('warn', 'webhook_failed', { webhook: this.name, ...about, again_in_s: seconds })
    await (this.#needs.pause ?? pauseFor)(seconds, this.#closing.signal).catch(() => undefined)
  }
}
