/** The jobs of the load generator, and their results. */

import type { Spread } from './stats.ts'

interface Target {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly concurrency: number
  readonly seconds: number
  /** Receipts are appended here, one per line; an answer without one is then a failure. */
  readonly receiptsFile?: string
}

export interface JsonJob extends Target {
  readonly kind: 'json'
  readonly body: string
  /** The total rate, evenly spread; without it each connection sends as soon as it is answered. */
  readonly perSecond?: number
  /** An answer shorter than this is a failure. */
  readonly answerBytes: number
  /** The service is killed during the job: a broken connection is not a failure. */
  readonly breaks: boolean
}

export interface SseJob extends Target {
  readonly kind: 'sse'
  readonly body: string
  readonly tokens: number
  /** The first streams of the connections are spread over this time. */
  readonly staggerMs: number
  readonly stallMs: number
}

export interface ImportJob extends Omit<Target, 'seconds'> {
  readonly kind: 'import'
  readonly batches: number
  readonly recordsPerBatch: number
  readonly recordBytes: number
}

/** Moves the head while every connection watches which release answers. */
export interface PromoteJob extends Omit<Target, 'seconds' | 'receiptsFile'> {
  readonly kind: 'promote'
  readonly body: string
  readonly perSecond: number
  readonly movePath: string
  readonly moves: number
  /** By turns. */
  readonly releases: readonly string[]
  /** Between a move that all have seen and the next. */
  readonly restMs: number
}

export type Job = JsonJob | SseJob | ImportJob | PromoteJob

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
  /** Frames that arrived in one read with their predecessor although the upstream sent them separately. */
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

export interface PromoteResult {
  readonly requests: number
  readonly moves: number
  /** Answers by an older release to requests that were sent after a move was answered. */
  readonly stale: number
  /** From asking for a move to the first answer by its release, of every connection. */
  readonly seenMs: Spread
  readonly answeredMs: Spread
  readonly failures: Failures
}

/** Failure counts by name. */
export type Failures = Readonly<Record<string, number>>

/** Only the benchmark sends messages, so the name is proof enough. */
export function isNumberedJob(message: unknown): message is { readonly number: number; readonly job: Job } {
  return typeof message === 'object' && message !== null && 'job' in message
}

export function isNumbered(message: unknown): message is { readonly number: number; readonly result: unknown } {
  return typeof message === 'object' && message !== null && 'result' in message
}

export function isResultOf<Asked extends Job>(_asked: Asked, message: unknown): message is ResultOf<Asked> {
  return typeof message === 'object' && message !== null && 'failures' in message
}

interface Results {
  readonly json: JsonResult
  readonly sse: SseResult
  readonly import: ImportResult
  readonly promote: PromoteResult
}

export type ResultOf<Asked extends Job> = Results[Asked['kind']]
