/** A trainer's thread, outer side: runs one step at a time and gives a reason for every way it can end. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { STEP_ABORT_GRACE_SECONDS, type Reporter, type SharedDocuments, type StepResult } from '../../contract/index.ts'
import { hasCode, knownSecrets, wordsOf } from '../../kit/index.ts'
import { StepFailure, timeoutMs, tookTooLong, type StepLimits, type StoredOrder, type TrainerSpec } from './host.ts'
import { answerCall, type DocumentCall } from './thread-documents.ts'
import { isFromTrainerThread, tellReport, type FromTrainerThread, type ThreadSettings, type ToTrainerThread } from './wire.ts'

const MIB = 1024 * 1024
/** How often a running step's memory is checked. */
const WATCH_MS = 50
/**
 * V8's own limit must be out of reach of what a step allocates between two checks: exceeding it inside one large allocation ends the whole
 * process.
 */
const HEAP_HEADROOM_MIB = 1024

/** How long a terminated thread may take to exit. */
const END_MS_MAX = 5000

interface Running {
  readonly report: Reporter
  readonly signal: AbortSignal
  readonly resolve: (result: StepResult) => void
  readonly reject: (error: unknown) => void
}

export class HostedThread {
  readonly #worker: Worker
  readonly #limits: StepLimits
  readonly #documents: SharedDocuments | undefined
  /** Resolves once the thread has exited or was abandoned. */
  readonly gone: Promise<void>
  readonly #leave: () => void
  #running: Running | null = null
  /** Why it ended, or is about to. */
  #reason: Error | null = null

  /** `documents` are what all gateways share of the trainer's scenario. */
  constructor(entry: URL, { limits, ...settings }: TrainerSpec, documents: SharedDocuments | undefined) {
    const workerData: ThreadSettings = { ...settings, secrets: knownSecrets(), hasDocuments: documents !== undefined }
    this.#documents = documents
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

  /** The thread is not usable any more: it failed, or is ending. */
  get isSpent(): boolean {
    return this.#reason !== null
  }

  /**
   * Settles when the thread has answered or never will. After an abort the thread may finish within its grace period; an abort before the
   * step does not cost the thread.
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
      // A failed trainer may leave anything behind, so the next step gets a new thread.
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

  #ask(message: ToTrainerThread): void {
    this.#worker.postMessage(message, [])
  }

  #hear(message: unknown): void {
    if (!isFromTrainerThread(message)) return
    if (message.said === 'documents') return void this.#answer(message)
    if (this.#running === null) return
    try {
      this.#take(message, this.#running)
    } catch (error) {
      this.#running.reject(error)
    }
  }

  /** Also between two steps, since a trainer may still write then. */
  async #answer(call: DocumentCall): Promise<void> {
    if (this.#documents !== undefined) this.#ask(await answerCall(call, this.#documents))
  }

  #take(message: Exclude<FromTrainerThread, DocumentCall>, { report, signal, resolve, reject }: Running): void {
    if (message.said === 'done') return resolve(message.result)
    if (message.said === 'failed') return reject(new StepFailure(message.words))
    if (signal.aborted) return undefined
    return tellReport(report, message)
  }

  #uncaught(error: unknown): StepFailure {
    const isHeap = hasCode(error, 'ERR_WORKER_OUT_OF_MEMORY')
    if (isHeap) return this.#heldTooMuch()
    return new StepFailure(`the trainer left an error uncaught: ${wordsOf(error)}`, { cause: error })
  }

  #heldTooMuch(): StepFailure {
    return new StepFailure(`the trainer held more than ${this.#limits.memoryMib} MiB and was ended; raise training.memory_mib or hold less`)
  }

  /** The first reason counts. The caller gets it at once, even if the thread exits late. */
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

  /** External memory is not in V8's limit, so both are checked here. V8 answers even during an endless loop. */
  async #watch(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const heldBytes = await this.#heldBytes()
      if (over.aborted) return
      if (heldBytes > this.#limits.memoryMib * MIB) this.#giveUp(this.#heldTooMuch())
      await sleep(WATCH_MS, undefined, { signal: over }).catch(() => undefined)
    }
  }

  /** A thread that is still starting cannot answer yet. */
  async #heldBytes(): Promise<number> {
    try {
      const { used_heap_size, external_memory } = await this.#worker.getHeapStatistics()
      return used_heap_size + external_memory
    } catch {
      return 0
    }
  }
}
