/** A trainer's thread from the outside: one step at a time, and a reason for everything that can end it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { STEP_ABORT_GRACE_SECONDS, type Reporter, type StepResult } from '../../contract/index.ts'
import { wordsOf } from '../../kit/index.ts'
import { StepFailure, type StepLimits, type StoredOrder, type TrainerAddress } from './host.ts'
import { timeoutMs, tookTooLong } from './patience.ts'
import { isFromThread, type FromThread, type ThreadSettings, type ToThread } from './wire.ts'

const MIB = 1024 * 1024
/** How often a running step's memory is looked at. */
const WATCH_MS = 50
/**
 * V8's own limit must stay out of reach of what a step can allocate between two looks: a thread that meets it inside one large
 * allocation takes the whole process along.
 */
const HEAP_HEADROOM_MIB = 1024

/** How long an ended thread may take to be gone. */
const END_MS_MAX = 5000

/** What a step still waits for. */
interface Running {
  readonly report: Reporter
  readonly signal: AbortSignal
  readonly resolve: (result: StepResult) => void
  readonly reject: (error: unknown) => void
}

export class HostedThread {
  readonly #worker: Worker
  readonly #limits: StepLimits
  /** Resolves once the thread has ended, whatever ended it, or was written off. */
  readonly gone: Promise<void>
  readonly #leave: () => void
  #running: Running | null = null
  /** Why it ended or is about to. */
  #reason: Error | null = null

  constructor(entry: URL, { limits, ...settings }: TrainerAddress) {
    const workerData: ThreadSettings = settings
    const resourceLimits = { maxOldGenerationSizeMb: limits.memoryMib + HEAP_HEADROOM_MIB }
    this.#worker = new Worker(entry, { workerData, resourceLimits, name: 'trainer' })
    this.#limits = limits
    const { promise, resolve } = Promise.withResolvers<void>()
    this.gone = promise
    this.#leave = resolve
    this.#worker
      .on('message', (message: unknown) => this.#hear(message))
      .on('messageerror', (error) => this.#giveUp(new StepFailure(`the trainer's answer cannot be read: ${wordsOf(error)}`)))
      .on('error', (error: unknown) => (this.#reason ??= this.#uncaught(error)))
      .on('exit', (code) => {
        this.#giveUp(new StepFailure(`the trainer ended its thread with exit code ${code}; a step ends by returning or throwing`))
        resolve()
      })
    this.#worker.unref()
  }

  /** It works for nobody any more: it failed, or was told to end. */
  get isSpent(): boolean {
    return this.#reason !== null
  }

  /**
   * Settles when the thread answered, or will never answer. After an abort that is the thread's own pace, or the end of its grace; an abort
   * that came before costs the thread nothing.
   */
  async step(order: StoredOrder, report: Reporter, signal: AbortSignal): Promise<StepResult> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<StepResult>()
    const over = new AbortController()
    const abort = (): void => this.#abort(over.signal)
    this.#running = { report, signal, resolve, reject }
    this.#worker.ref()
    signal.addEventListener('abort', abort)
    void this.#watch(over.signal)
    const timer = setTimeout(() => this.#giveUp(tookTooLong(this.#limits)), timeoutMs(this.#limits))
    try {
      this.#ask({ ask: 'step', order })
      return await promise
    } catch (error) {
      // A trainer that failed may have left anything behind: the next step begins in a thread of its own.
      this.#giveUp(new Error('its step failed'))
      throw error
    } finally {
      clearTimeout(timer)
      over.abort()
      signal.removeEventListener('abort', abort)
      this.#running = null
      this.#worker.unref()
    }
  }

  /** Ends the thread wherever it is, and waits until it is gone. One that is stuck outside JavaScript cannot be ended: it is written off. */
  async end(reason: Error): Promise<void> {
    this.#giveUp(reason)
    const timer = setTimeout(this.#leave, END_MS_MAX)
    await this.gone
    clearTimeout(timer)
  }

  #ask(message: ToThread): void {
    this.#worker.postMessage(message, [])
  }

  #hear(message: unknown): void {
    if (this.#running === null || !isFromThread(message)) return
    try {
      this.#take(message, this.#running)
    } catch (error) {
      this.#running.reject(error)
    }
  }

  #take(message: FromThread, { report, signal, resolve, reject }: Running): void {
    if (message.said === 'done') return resolve(message.result)
    if (message.said === 'failed') return reject(new StepFailure(message.words))
    if (signal.aborted) return undefined
    if (message.said === 'phase') return report.phase(message.name, message.more)
    return report.line(message.kind, message.text, message.failed)
  }

  #uncaught(error: unknown): StepFailure {
    const isHeap = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    if (isHeap) return this.#heldTooMuch()
    return new StepFailure(`the trainer left an error uncaught: ${wordsOf(error)}`, { cause: error })
  }

  #heldTooMuch(): StepFailure {
    return new StepFailure(`the trainer held more than ${this.#limits.memoryMib} MiB and was ended; raise training.memory_mib or hold less`)
  }

  /** The first reason stands. Whoever waits is told at once, even where the thread takes its time to end. */
  #giveUp(reason: Error): void {
    this.#reason ??= reason
    this.#running?.reject(this.#reason)
    void this.#worker.terminate()
  }

  #abort(over: AbortSignal): void {
    this.#ask({ ask: 'abort' })
    sleep(STEP_ABORT_GRACE_SECONDS * 1000, undefined, { signal: over }).then(
      () => this.#giveUp(new StepFailure('the trainer did not stop when asked to')),
      () => undefined,
    )
  }

  /** Memory beside the heap is in no limit of V8's, so both are looked at from here. V8 answers even out of a loop that never yields. */
  async #watch(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const heldBytes = await this.#heldBytes()
      if (over.aborted) return
      if (heldBytes > this.#limits.memoryMib * MIB) this.#giveUp(this.#heldTooMuch())
      await sleep(WATCH_MS, undefined, { signal: over }).catch(() => undefined)
    }
  }

  /** A thread that is still starting cannot say, and must be asked again. */
  async #heldBytes(): Promise<number> {
    try {
      const { used_heap_size, external_memory } = await this.#worker.getHeapStatistics()
      return used_heap_size + external_memory
    } catch {
      return 0
    }
  }
}
