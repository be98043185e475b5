/** JSON load: each connection sends its next request after the answer to the last, or at a fixed pace. */

import { appendFileSync } from 'node:fs'
import { type Client, converse, FailureCount, requestBytes, statusOf } from './connection.ts'
import type { JsonJob, JsonResult } from './jobs.ts'
import { spread } from './stats.ts'

/** With a pace, the first request is due when all connections are open. */
const CONNECT_MS = 50
/** Ours, or the original system's. */
const RECEIPT = /\r\nx-(?:svc|reef)-agent-record-id: *(\S+)/i
/** How long answers in flight may take after the window. */
const DRAIN_SECONDS = 20

export async function loadJson(job: JsonJob): Promise<JsonResult> {
  const window = new JsonWindow(job)
  const clients = Array.from({ length: job.concurrency }, (_, index) => converse(job.port, new JsonClient(window, index)))
  const drained = Promise.all(clients)
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, (job.seconds + DRAIN_SECONDS) * 1000, 'late').unref())
  if ((await Promise.race([drained, late])) === 'late') window.failures.add('no answer')
  return window.result()
}

class JsonWindow {
  readonly job: JsonJob
  readonly request: Buffer
  readonly failures = new FailureCount()
  readonly #latencies: number[] = []
  readonly #receipts: string[] = []
  readonly startedAt = performance.now()
  readonly #endsAt: number
  #lastAt = this.startedAt

  constructor(job: JsonJob) {
    this.job = job
    this.request = requestBytes(job.path, job.headers, job.body)
    this.#endsAt = this.startedAt + job.seconds * 1000
  }

  get open(): boolean {
    return performance.now() < this.#endsAt
  }

  answered(sentAt: number, receipt: string | undefined): void {
    this.#lastAt = performance.now()
    this.#latencies.push(this.#lastAt - sentAt)
    if (receipt !== undefined) this.#receipts.push(receipt)
  }

  result(): JsonResult {
    if (this.job.receiptsFile !== undefined) appendFileSync(this.job.receiptsFile, this.#receipts.map((id) => `${id}\n`).join(''))
    const seconds = (this.#lastAt - this.startedAt) / 1000
    return { requests: this.#latencies.length, seconds, latencyMs: spread(this.#latencies), failures: this.failures.counts }
  }
}

class JsonClient implements Client {
  readonly #window: JsonWindow
  /** Between two requests of this connection; 0 without a pace. */
  readonly #intervalMs: number
  #dueAt: number
  #isLate = false
  #sentAt = 0
  #status = 0
  #bytes = 0
  #receipt: string | undefined

  constructor(window: JsonWindow, index: number) {
    const { concurrency, perSecond = Number.POSITIVE_INFINITY } = window.job
    this.#window = window
    this.#intervalMs = (concurrency / perSecond) * 1000
    this.#dueAt = window.startedAt + CONNECT_MS + (index / perSecond) * 1000
  }

  waitMs(): number {
    if (this.#intervalMs === 0) return 0
    const waitMs = this.#dueAt - performance.now()
    this.#isLate = waitMs < 0
    return waitMs
  }

  /** A delayed request is timed from when it was due, unless only our own timer was late. */
  next(): Buffer | undefined {
    if (!this.#window.open) return undefined
    this.#bytes = 0
    this.#sentAt = this.#isLate ? this.#dueAt : performance.now()
    this.#dueAt += this.#intervalMs
    return this.#window.request
  }

  head(text: string): void {
    this.#status = statusOf(text)
    if (this.#window.job.receiptsFile !== undefined) this.#receipt = RECEIPT.exec(text)?.[1]
  }

  body(bytes: Buffer): void {
    this.#bytes += bytes.length
  }

  end(): void {
    const failure = this.#failure()
    if (failure === undefined) this.#window.answered(this.#sentAt, this.#receipt)
    else this.#window.failures.add(failure)
  }

  broken(cause: string): boolean {
    if (this.#window.job.breaks) return false
    this.#window.failures.add(cause)
    return true
  }

  #failure(): string | undefined {
    const { job } = this.#window
    if (this.#status !== 200) return `status ${this.#status}`
    if (this.#bytes < job.answerBytes) return 'short answer'
    if (job.receiptsFile !== undefined && this.#receipt === undefined) return 'no receipt'
    return undefined
  }
}
