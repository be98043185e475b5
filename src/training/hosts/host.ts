/** Where trainers run: the room's own words for it. Threads in production (thread-pool.ts), the weight lane inline (weight-lane.ts). */
import {
  unavailable,
  type Batch,
  type JsonObject,
  type Reporter,
  type StepOrder,
  type StepResult,
  type TrainerScope,
} from '../../contract/index.ts'

/** A trainer by everything needed to make it elsewhere: plain data. */
export interface TrainerAddress extends PlainScope {
  /** The recipe plug-in as the configuration names it, and where relative names start. */
  readonly plugin: { readonly name: string; readonly baseDirectory: string }
  readonly limits: StepLimits
}
type PlainScope = Omit<TrainerScope, 'weights'>
export interface StepLimits {
  /** A step that takes longer is ended and counts as failed. */
  readonly timeoutSeconds: number
  /** A trainer that holds more, in its heap or beside it, is ended with its thread. */
  readonly memoryMib: number
}

/** The order before it crosses: exchanges are still the bytes they were stored as. */
export type StoredOrder = Omit<StepOrder, 'batch'> & { readonly batch: Batch<Uint8Array> }

/**
 * One step, whatever becomes of it. Throws a StepFailure for everything that is the trainer's fault, the signal's reason once it aborts,
 * and anything else where the house could not run it.
 */
export type RunStep = (order: StoredOrder, report: Reporter, signal: AbortSignal) => Promise<StepResult>

export interface TrainerHost {
  /**
   * Waits until this trainer has a turn, oldest asker first, and works in it: at most one step per turn. The number of turns at once is
   * bounded, and a turn is over only when its step is, however early the work went on without it. An abort while waiting gives the place in
   * the queue up.
   */
  inTurn<T>(trainer: TrainerAddress, signal: AbortSignal, work: (step: RunStep) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** The trainer failed, not the house: in words for the row and for the status. */
export class StepFailure extends Error {
  /** What the row tells beside the words. */
  readonly metrics: JsonObject

  constructor(message: string, { metrics = {}, ...options }: ErrorOptions & { readonly metrics?: JsonObject } = {}) {
    super(message, options)
    this.name = 'StepFailure'
    this.metrics = metrics
  }
}

/** What a plug-in is told of the trainer it opens: not how the house came by it, nor what it is held to. */
export function scopeOf({ scenario, component, config, evaluation, directory }: PlainScope): PlainScope {
  return { scenario, component, config, evaluation, directory }
}

/** Which addresses are the same trainer. The directory is a scenario's own for ever, so a later scenario of the same name is another. */
export function keyOf({ scenario, component, directory }: TrainerAddress): string {
  return JSON.stringify([scenario, component, directory])
}

/** No fault of the trainer: no row tells of it. */
export const stopping = (): Error => unavailable('stopping', 'the service is stopping; no further step is taken')
