/** One target: it is told of one row after the other. An event that it refuses again and again is set aside and sent later, so that the others go on. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Commit, Store } from '../contract/index.ts'
import { Lane, wordsOf } from '../kit/index.ts'
import { messagesOf, type ToldRow, type WebhookEvent, type WebhookMessage } from './events.ts'
import type { Positions } from './positions.ts'
import { sendWebhook } from './send.ts'
import type { KeptEvent, KeptEvents } from './kept-events.ts'
import type { SpentEvent } from './spenders.ts'
import type { SpentBook } from './spent-book.ts'
import { signedHeaders } from './signature.ts'

const ROWS_AT_ONCE = 50
/** The step of the row that makes a scenario, of which nothing is told. */
const CREATION = 0
const PAUSE_SECONDS_FIRST = 1
const PAUSE_SECONDS_MAX = 600
/** An event that was refused so often is set aside. */
const REFUSALS_MAX = 6
/** What is set aside is sent again after this long. */
const ASIDE_SECONDS = 600
/** These say that the target is busy or away, which has nothing to do with the event: it waits, and its order stays. */
const AWAY_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504])
/** An event that nobody took for so long is left out. */
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
  readonly newId: () => string
  readonly send?: typeof sendWebhook
  /** How often it is looked at what was spent. */
  readonly lookMs?: number
  readonly pause?: (seconds: number, signal: AbortSignal) => Promise<void>
}

const pauseFor = async (seconds: number, signal: AbortSignal): Promise<void> => sleep(seconds * 1000, undefined, { signal, ref: false })

export interface KeptOfTarget {
  readonly positions: Positions
  readonly aside: KeptEvents
  readonly spent: SpentBook
}

/** Why a message was not taken. */
interface Trouble {
  readonly problem: string
  /** The target answered, and would not have this one. */
  readonly isRefused: boolean
}

export class WebhookTarget {
  readonly #settings: WebhookSettings
  readonly #needs: WebhookNeeds
  readonly #positions: Positions
  readonly #aside: KeptEvents
  readonly #spent: SpentBook
  /** One event at a time. */
  readonly #sending = new Lane()
  readonly #waiting = new Set<string>()
  /** Scenarios that were archived since the row that is being told was read. */
  readonly #archived = new Set<string>()
  readonly #closing = new AbortController()
  #working: Promise<void> | null = null
  #sendingLater: Promise<void> | null = null
  #tellingSpent: Promise<void> | null = null
  #hurry = new AbortController()
  #isHurried = false
  #telling: string | null = null
  delivered = 0
  failed = 0

  constructor(settings: WebhookSettings, kept: KeptOfTarget, needs: WebhookNeeds) {
    this.#settings = settings
    this.#positions = kept.positions
    this.#aside = kept.aside
    this.#spent = kept.spent
    this.#needs = needs
    this.#sendLater()
    this.#tellSpent()
  }

  get name(): string {
    return this.#settings.name
  }

  /** Scenarios with rows that the target may not have been told of, with the one that it is being told of. */
  get waiting(): number {
    const isOneMore = this.#telling !== null && !this.#waiting.has(this.#telling)
    return this.#waiting.size + (isOneMore ? 1 : 0)
  }

  get setAside(): number {
    return this.#aside.size
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

  /** Kept before they are sent: a crash between the two loses none. */
  async tellSpent(events: readonly SpentEvent[]): Promise<void> {
    if (!this.#settings.events.has('budget')) return
    await this.#spent.add(events)
    this.#tellSpent()
  }

  /** What was set aside, without waiting longer. */
  sendAgain(): void {
    this.#isHurried = true
    this.#hurry.abort()
    this.#hurry = new AbortController()
  }

  /** What was not delivered is delivered after the next start. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#working, this.#sendingLater, this.#tellingSpent])
  }

  #tellSpent(): void {
    if (this.#spent.waiting.length === 0 || this.#closing.signal.aborted) return
    this.#tellingSpent ??= this.#sendSpent().finally(() => {
      this.#tellingSpent = null
    })
  }

  /** Never rejects. What is left is tried with the next look at what was spent. */
  async #sendSpent(): Promise<void> {
    try {
      for (const event of this.#spent.waiting) {
        await this.#deliver(event, event.recordedAt)
        await this.#spent.done(event)
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#needs.log('warn', 'webhook_failed', { webhook: this.name, error: wordsOf(error) })
    }
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
        for (const message of messages) await this.#deliver(message, row.recorded_at)
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

  async #deliver(message: WebhookMessage, recordedAt: number): Promise<void> {
    let refusals = 0
    for (let failures = 1; ; failures += 1) {
      const trouble = await this.#try(message)
      if (trouble === null) {
        this.delivered += 1
        return
      }
      this.#closing.signal.throwIfAborted()
      this.failed += 1
      if (this.#isTooOld(recordedAt)) return this.#giveUp(message, trouble.problem)
      if (trouble.isRefused) refusals += 1
      if (refusals === REFUSALS_MAX) return this.#putAside({ ...message, recordedAt }, trouble.problem)
      await this.#rest(failures, { message: message.id, event: message.event, error: trouble.problem })
      this.#closing.signal.throwIfAborted()
    }
  }

  /** Kept before the position moves on: a crash between the two repeats the event, and loses none. */
  async #putAside(event: KeptEvent, problem: string): Promise<void> {
    const gone = await this.#aside.add(event)
    this.#needs.log('error', 'webhook_set_aside', { webhook: this.name, message: event.id, event: event.event, error: problem })
    if (gone !== null) this.#giveUp(gone, 'too many events are set aside')
    this.#sendLater()
  }

  #sendLater(): void {
    if (this.#aside.size === 0 || this.#closing.signal.aborted) return
    this.#sendingLater ??= this.#sendAside().finally(() => {
      this.#sendingLater = null
    })
  }

  /** Never rejects. What is added meanwhile is sent with the next round. */
  async #sendAside(): Promise<void> {
    while (this.#aside.size > 0) {
      const signal = AbortSignal.any([this.#closing.signal, this.#hurry.signal])
      if (!this.#isHurried) await (this.#needs.pause ?? pauseFor)(ASIDE_SECONDS, signal).catch(() => undefined)
      this.#isHurried = false
      for (const event of this.#aside.all()) {
        if (this.#closing.signal.aborted) return
        const trouble = await this.#try(event)
        if (trouble === null) this.delivered += 1
        else this.failed += 1
        const isOver = trouble === null || this.#isTooOld(event.recordedAt)
        if (trouble !== null && isOver) this.#giveUp(event, trouble.problem)
        if (isOver) await this.#aside.remove(event).catch(() => undefined)
      }
    }
  }

  #isTooOld(recordedAt: number): boolean {
    return this.#needs.clock() - recordedAt > GIVE_UP_SECONDS
  }

  #giveUp({ id, event }: WebhookMessage, problem: string): void {
    this.#needs.log('error', 'webhook_given_up', { webhook: this.name, message: id, event, error: problem })
  }

  /** Null where the target took it. */
  async #try({ id, body }: WebhookMessage): Promise<Trouble | null> {
    const { url, secret, allowsInside } = this.#settings
    const headers = signedHeaders({ id, at: Math.floor(this.#needs.clock()), body }, secret)
    const send = this.#needs.send ?? sendWebhook
    try {
      const status = await this.#sending.run(() => send({ url, headers, body, allowsInside, signal: this.#closing.signal }))
      if (status >= 200 && status < 300) return null
      return { problem: `the target answered ${status}`, isRefused: !AWAY_STATUS.has(status) }
    } catch (error) {
      return { problem: wordsOf(error), isRefused: false }
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
