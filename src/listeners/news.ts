/** What a listener thread has to say to the operator: log lines and numbers, sent together a few times a second. */
import type { Log, LogLevel, Metrics } from '../http/index.ts'
import type { JsonObject } from '../contract/index.ts'
import type { FromListener, LogEntry, SpanCounted } from './wire.ts'

const SEND_AFTER_MS = 20
const NO_SPANS: SpanCounted = { exported: 0, dropped: 0 }

export class News implements Log {
  readonly #metrics: Metrics
  readonly #say: (message: FromListener) => void
  readonly #clock: () => number
  #lines: LogEntry[] = []
  #timer: NodeJS.Timeout | null = null
  spans: SpanCounted = NO_SPANS

  constructor(metrics: Metrics, clock: () => number, say: (message: FromListener) => void) {
    this.#metrics = metrics
    this.#clock = clock
    this.#say = say
  }

  write(level: LogLevel, event: string, fields: JsonObject): void {
    this.#lines.push({ level, event, fields, at: this.#clock() })
    this.#timer ??= setTimeout(() => this.flush(), SEND_AFTER_MS)
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const { exported, dropped } = this.spans
    this.#say({ said: 'news', lines: this.#lines, counted: this.#metrics.take(), spans: { exported, dropped } })
    this.#lines = []
  }
}
