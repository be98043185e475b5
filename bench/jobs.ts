/** What the benchmark asks of its load generator, and what it gets back. */

import type { Spread } from './stats.ts'

interface Target {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly concurrency: number
  readonly seconds: number
  /** Where acknowledged receipts are appended, one a line; an answer without one is then a failure. */
  readonly receiptsFile?: string
}

export interface JsonJob extends Target {
  readonly kind: 'json'
  readonly body: string
  /** All connections together send so many, evenly; without it each sends as soon as it is answered. */
  readonly perSecond?: number
  /** An answer shorter than this is a failure. */
  readonly answerBytes: number
  /** The service will be killed meanwhile: a broken connection is left alone and not counted as a failure. */
  readonly breaks: boolean
}

export interface SseJob extends Target {
  readonly kind: 'sse'
  readonly body: string
  readonly tokens: number
  /** Connections start their first stream spread over this time. */
  readonly staggerMs: number
  readonly stallMs: number
}

export interface ImportJob extends Omit<Target, 'seconds'> {
  readonly kind: 'import'
  readonly batches: number
  readonly recordsPerBatch: number
  readonly recordBytes: number
}

export type Job = JsonJob | SseJob | ImportJob

export interface JsonResult {
  readonly requests: number
  readonly seconds: number
  readonly latencyMs: Spread
  readonly failures: Failures
}

export interface SseResult {
  readonly streams: number
  readonly seconds: number
  readonly frames: number
  readonly framesLost: number
  /** Frames that came in one read with their predecessor although the upstream sent them apart. */
  readonly framesMerged: number
  readonly stalls: number
  readonly ttftMs: Spread
  readonly gapMs: Spread
  readonly failures: Failures
}

export interface ImportResult {
  readonly records: number
  readonly seconds: number
  readonly failures: Failures
}

/** How often each thing went wrong, by its name. */
export type Failures = Readonly<Record<string, number>>

/** Only the benchmark talks to its generator, so the mark of a message is proof of the rest. */
export function isJob(message: unknown): message is Job {
  return typeof message === 'object' && message !== null && 'kind' in message
}

export function isResultOf<Asked extends Job>(_asked: Asked, message: unknown): message is ResultOf<Asked> {
  return typeof message === 'object' && message !== null && 'failures' in message
}

export type ResultOf<Asked extends Job> = Asked extends JsonJob ? JsonResult : Asked extends SseJob ? SseResult : ImportResult
