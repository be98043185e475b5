/** Spans wait in a bounded queue and are sent in batches. No caller waits for the collector; spans it does not take are dropped and counted. */
import { PRODUCT } from '../contract/index.ts'
import { SpanDelivery, type Destination } from './delivery.ts'
import { printSpan, type TraceSpan } from './span.ts'

export interface SpanCounts {
  readonly exported: number
  readonly dropped: number
}

export interface ExportPace {
  readonly waitingMax: number
  readonly batchMax: number
  /** The largest batch when printed: collectors refuse larger ones. */
  readonly batchCharactersMax: number
  /** How long a span waits for others at most. */
  readonly gatherMs: number
  readonly timeoutMs: number
  readonly retryFirstMs: number
  /** How long the last batches may take when the service stops. */
  readonly closeMs: number
}

const PACE: ExportPace = {
  waitingMax: 2048,
  batchMax: 512,
  batchCharactersMax: 4 * 1024 * 1024,
  gatherMs: 5000,
  timeoutMs: 10_000,
  retryFirstMs: 1000,
  closeMs: 5000,
}
const WARN_EVERY_MS = 60_000

export interface ExporterSettings extends Omit<Destination, 'timeoutMs' | 'retryFirstMs'> {
  readonly serviceName: string
  /** Called when spans were dropped, at most once a minute. */
  readonly warn: (message: string, error: unknown) => void
  /** For tests. */
  readonly pace?: Partial<ExportPace>
}

export class Exporter {
  readonly counts: { exported: number; dropped: number } = { exported: 0, dropped: 0 }
  readonly #pace: ExportPace
  readonly #delivery: SpanDelivery
  readonly #warn: ExporterSettings['warn']
  readonly #head: string
  readonly #waiting: string[] = []
  #timer: NodeJS.Timeout | null = null
  #sending: Promise<void> | null = null
  #isClosing = false
  #warnedAt = -Infinity
  #unsaid = 0

  constructor({ endpoint, headers, serviceName, warn, pace = {} }: ExporterSettings) {
    this.#pace = { ...PACE, ...pace }
    this.#delivery = new SpanDelivery({ endpoint, headers, ...this.#pace })
    this.#warn = warn
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: serviceName.toWellFormed() } }] }
    this.#head = `{"resourceSpans":[{"resource":${JSON.stringify(resource)},"scopeSpans":[{"scope":${JSON.stringify({ name: PRODUCT })},"spans":[`
  }

  /** Spans are printed one at a time as they come, so that a full batch causes no pause. A span that cannot be printed is dropped. */
  add(count: number, make: () => readonly TraceSpan[]): void {
    if (this.#waiting.length + count > this.#pace.waitingMax) return this.#drop(count, new Error('the queue is full'))
    // Read each time, since the clock may be set or the machine may sleep; once for all, since these spans belong together.
    const origin = Date.now() - performance.now()
    try {
      this.#waiting.push(...make().map((span) => printSpan(span, origin)))
    } catch (error) {
      return this.#drop(count, error)
    }
    if (this.#waiting.length >= this.#pace.batchMax) this.#send()
    else this.#timer ??= setTimeout(() => this.#send(), this.#pace.gatherMs).unref()
  }

  #send(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null
    })
  }

  /** Sends one batch at a time: with a slow collector the queue fills, and then spans are dropped. */
  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch()
      const { rejected, error } = await this.#delivery.deliver(`${this.#head}${batch.join(',')}]}]}]}`)
      const dropped = Math.min(rejected ?? batch.length, batch.length)
      this.counts.exported += batch.length - dropped
      if (dropped > 0) this.#drop(dropped, error)
      // New spans wait for a full batch again.
      if (!this.#isClosing && this.#waiting.length < this.#pace.batchMax) break
    }
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#send(), this.#pace.gatherMs).unref()
  }

  #takeBatch(): readonly string[] {
    let characters = 0
    const end = this.#waiting.findIndex((span, index) => {
      characters += span.length
      return index === this.#pace.batchMax || (index > 0 && characters > this.#pace.batchCharactersMax)
    })
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end)
  }

  #drop(spans: number, error: unknown): void {
    this.counts.dropped += spans
    this.#unsaid += spans
    const now = performance.now()
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warn(`${this.#unsaid} ${this.#unsaid === 1 ? 'span was' : 'spans were'} dropped`, error)
    this.#warnedAt = now
    this.#unsaid = 0
  }

  /** Tries every remaining batch once; what is left after `closeMs` is dropped. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#delivery.hurry()
    const timer = setTimeout(() => this.#delivery.giveUp(), this.#pace.closeMs)
    await this.#sending
    this.#send()
    await this.#sending
    clearTimeout(timer)
    if (this.#timer !== null) clearTimeout(this.#timer)
  }
}
