/** The interface of trainer hosts: a process of threads (process-outside.ts), threads (thread-pool.ts), and the weight lane, which runs inline (weight-lane.ts). */
import { basename } from 'node:path'
import {
  ownerOf,
  unavailable,
  type Batch,
  type Fence,
  type JsonObject,
  type OpenDocuments,
  type Reporter,
  type SharedDocuments,
  type StepOrder,
  type StepResult,
  type TrainerScope,
} from '../../contract/index.ts'

/** Everything needed to make a trainer in another thread, as plain data. */
export interface TrainerSpec extends PlainScope {
  /** The recipe plug-in as configured, and the folder that relative names start from. */
  readonly plugin: { readonly name: string; readonly baseDirectory: string; readonly ownPaths?: readonly string[] }
  readonly limits: StepLimits
  /** The lease it trains under. */
  readonly lease?: Fence
}
/** What says which documents belong to a trainer. */
export type DocumentPlace = Pick<TrainerSpec, 'directory' | 'lease'>
export type DocumentsOf = (place: DocumentPlace) => SharedDocuments

type PlainScope = Omit<TrainerScope, 'weights' | 'documents'>
export interface StepLimits {
  /** A step that takes longer is ended and counts as failed. */
  readonly timeoutSeconds: number
  /** A trainer that holds more memory, heap and external, is ended with its thread. */
  readonly memoryMib: number
}

/** The order before it is sent: exchanges are still the stored bytes. */
export type StoredOrder = Omit<StepOrder, 'batch'> & { readonly batch: Batch<Uint8Array> }

/**
 * Runs one step. Throws a StepFailure for the trainer's faults, the signal's reason once it aborts, and anything else for an internal
 * failure.
 */
export type RunStep = (order: StoredOrder, report: Reporter, signal: AbortSignal) => Promise<StepResult>

export interface TrainerHost {
  /**
   * Waits for a turn, first come first served, and runs the work in it: at most one step per turn. The number of concurrent turns is bounded.
   * A turn ends only when its step has ended, even if the work returns earlier. An abort while waiting leaves the queue.
   */
  inTurn<T>(trainer: TrainerSpec, signal: AbortSignal, work: (step: RunStep) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** The trainer failed, not the service. The message goes into the row and the status. */
export class StepFailure extends Error {
  /** Metrics for the row. */
  readonly metrics: JsonObject

  constructor(message: string, { metrics = {}, ...options }: ErrorOptions & { readonly metrics?: JsonObject } = {}) {
    super(message, options)
    this.name = 'StepFailure'
    this.metrics = metrics
  }
}

export const documentsOf =
  (open: OpenDocuments): DocumentsOf =>
  ({ directory, lease }) =>
  (kind) =>
    open(ownerOf(basename(directory), kind), lease)

/** The fields a plug-in sees of its trainer's spec. */
export function scopeOf({ scenario, component, config, evaluation, directory }: PlainScope): PlainScope {
  return { scenario, component, config, evaluation, directory }
}

/**
 * Identifies a trainer. The directory belongs to one scenario for ever, so a later scenario of the same name is another trainer. So is one
 * under a later lease: what it knew may be outdated.
 */
export function keyOf({ scenario, component, directory, lease }: TrainerSpec): string {
  return JSON.stringify([scenario, component, directory, lease?.token])
}

/** Not the trainer's fault, so no row is written. */
export const stopping = (): Error => unavailable('stopping', 'the service is stopping; no further step is taken')

/** Timers hold no more; a step that takes longer than 24 days is not ended by this process. */
const TIMER_MS_MAX = 2 ** 31 - 1

export function timeoutMs({ timeoutSeconds }: StepLimits, moreSeconds = 0): number {
  return Math.min((timeoutSeconds + moreSeconds) * 1000, TIMER_MS_MAX)
}

export function tookTooLong({ timeoutSeconds }: StepLimits): StepFailure {
  return new StepFailure(`the step took longer than ${timeoutSeconds} s and was ended; raise training.step_timeout_s or give it less to do`)
}
