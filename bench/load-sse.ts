/** Stream load: reads every frame of every stream, checks its number, and notes its time. */

import { appendFileSync } from 'node:fs'
import { type Client, converse, FailureCount, requestBytes, statusOf } from './connection.ts'
import type { SseJob, SseResult } from './jobs.ts'
import { spread } from './stats.ts'

const DRAIN_SECONDS = 60
/** The original system names the record of a stream before the stream. */
const EARLY_RECEIPT = /\r\nx-reef-agent-record-id: *(\S+)/i
/** The prefix of each token's number. */
const TOKEN_MARK = 'tok-'

export async function loadSse(job: SseJob): Promise<SseResult> {
  const window = new SseWindow(job)
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, (job.seconds + DRAIN_SECONDS) * 1000, 'late').unref())
  const clients = Array.from({ length: job.concurrency }, async (_, index) => {
    await new Promise((resolve) => setTimeout(resolve, (job.staggerMs * index) / job.concurrency))
    await converse(job.port, new SseClient(window))
  })
  if ((await Promise.race([Promise.all(clients), late])) === 'late') window.failures.add('no end')
  return window.result()
}

class SseWindow {
  readonly job: SseJob
  readonly request: Buffer
  readonly failures = new FailureCount()
  readonly ttfts: number[] = []
  readonly gaps: number[] = []
  readonly receipts: string[] = []
  streams = 0
  frames = 0
  lost = 0
  merged = 0
  stalls = 0
  readonly #startedAt = performance.now()

  constructor(job: SseJob) {
    this.job = job
    this.request = requestBytes(job.path, job.headers, job.body)
  }

  get open(): boolean {
    return performance.now() < this.#startedAt + this.job.seconds * 1000
  }

  gap(ms: number): void {
    this.gaps.push(ms)
    if (ms > this.job.stallMs) this.stalls += 1
  }

  result(): SseResult {
    if (this.job.receiptsFile !== undefined) appendFileSync(this.job.receiptsFile, this.receipts.map((id) => `${id}\n`).join(''))
    return {
      streams: this.streams,
      seconds: (performance.now() - this.#startedAt) / 1000,
      frames: this.frames,
      framesLost: this.lost,
      framesMerged: this.merged,
      stalls: this.stalls,
      ttftMs: spread(this.ttfts),
      gapMs: spread(this.gaps),
      failures: this.failures.counts,
    }
  }
}

class SseClient implements Client {
  readonly #window: SseWindow
  #sentAt = 0
  #lastFrameAt = 0
  #status = 0
  #tokens = 0
  #nextToken = 0
  #held = ''
  #receipt: string | undefined

  constructor(window: SseWindow) {
    this.#window = window
  }

  next(): Buffer | undefined {
    if (!this.#window.open) return undefined
    this.#tokens = 0
    this.#nextToken = 0
    this.#held = ''
    this.#receipt = undefined
    this.#sentAt = performance.now()
    return this.#window.request
  }

  head(text: string): void {
    this.#status = statusOf(text)
    this.#receipt = EARLY_RECEIPT.exec(text)?.[1]
  }

  /** Parses whole frames only. */
  body(bytes: Buffer): void {
    const text = this.#held + bytes.toString('latin1')
    const end = text.lastIndexOf('\n\n')
    this.#held = text.slice(end + 2)
    if (end === -1) return
    const whole = text.slice(0, end)
    const found = whole.match(/tok-\d+/g)
    if (found !== null) this.#tokensCame(found)
    const receipt = /"agent_record_id":"([^"]+)"/.exec(whole)?.[1]
    if (receipt !== undefined) this.#receipt = receipt
  }

  end(): void {
    const window = this.#window
    window.streams += 1
    window.lost += window.job.tokens - this.#tokens
    if (this.#receipt !== undefined) window.receipts.push(this.#receipt)
    if (this.#status !== 200) window.failures.add(`status ${this.#status}`)
    else if (this.#tokens < window.job.tokens) window.failures.add('frames lost')
    else if (window.job.receiptsFile !== undefined && this.#receipt === undefined) window.failures.add('no receipt')
  }

  broken(cause: string): boolean {
    this.#window.failures.add(cause)
    return true
  }

  /** A token out of order is not counted: a lost, doubled or swapped frame counts as lost. */
  #tokensCame(found: readonly string[]): void {
    const now = performance.now()
    const before = this.#tokens
    for (const name of found) {
      const place = Number(name.slice(TOKEN_MARK.length))
      if (place < this.#nextToken) continue
      this.#nextToken = place + 1
      this.#tokens += 1
    }
    if (this.#tokens === before) return
    if (before === 0) this.#window.ttfts.push(now - this.#sentAt)
    else this.#window.gap(now - this.#lastFrameAt)
    this.#lastFrameAt = now
    this.#window.frames += this.#tokens - before
    this.#window.merged += this.#tokens - before - 1
  }
}
