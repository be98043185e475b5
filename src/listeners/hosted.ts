/** A listener thread, outer side. */
import { Worker, type MessagePort } from 'node:worker_threads'
import { within } from '../kit/index.ts'
import type { Counted } from '../http/index.ts'
import type { FromListener, ListenerSettings, LogEntry, SpanCounted, ToListener } from './wire.ts'

/** A thread that needs more is ended and replaced; the service goes on. */
const HEAP_MIB_MAX = 1024
const SYNC_SECONDS_MAX = 1

export interface ListenerEars {
  ask(name: string): void
  news(lines: readonly LogEntry[], counted: Counted): void
}

export class HostedListener {
  readonly #worker: Worker
  readonly #ears: ListenerEars
  readonly #syncing = new Map<number, () => void>()
  readonly #closed = Promise.withResolvers<void>()
  readonly #ready = Promise.withResolvers<void>()
  /** Resolves with the reason once the thread is gone. */
  readonly gone: Promise<Error>
  readonly startedAt = performance.now()
  isListening = false
  inFlight = 0
  spans: SpanCounted = { exported: 0, dropped: 0 }
  #reason: Error | null = null
  #syncs = 0

  constructor(entry: URL, settings: ListenerSettings, ears: ListenerEars) {
    this.#ears = ears
    this.#worker = startWorker(entry, settings)
    this.#ready.promise.catch(() => undefined)
    const { promise, resolve } = Promise.withResolvers<Error>()
    this.gone = promise
    this.#worker
      .on('message', (message: FromListener) => this.#hear(message))
      .on('error', (error) => (this.#reason ??= error instanceof Error ? error : new Error(String(error))))
      .on('exit', (code) => {
        this.#reason ??= new Error(`the thread ended with exit code ${code}`)
        this.isListening = false
        this.inFlight = 0
        this.#ready.reject(this.#reason)
        this.#closed.resolve()
        for (const done of this.#syncing.values()) done()
        resolve(this.#reason)
      })
  }

  /** Resolves once it listens; rejects when it cannot. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  tell(message: ToListener): void {
    this.#worker.postMessage(message, [])
  }

  /** Resolves once the thread has taken everything that it was told, and has said what it counted; or after a second. */
  async sync(): Promise<void> {
    if (!this.isListening) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#syncs += 1
    const id = this.#syncs
    this.#syncing.set(id, resolve)
    this.tell({ tell: 'sync', id })
    await within(SYNC_SECONDS_MAX, promise).catch(() => undefined)
    this.#syncing.delete(id)
  }

  /** Lets it finish its answers. One that takes longer than that is ended. */
  async close(secondsMax: number): Promise<void> {
    this.tell({ tell: 'close' })
    await within(secondsMax, this.#closed.promise).catch(() => undefined)
    await this.#worker.terminate()
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #hear(message: FromListener): void {
    switch (message.said) {
      case 'listening':
        this.isListening = true
        return this.#ready.resolve()
      case 'failed':
        this.#reason = Object.assign(new Error(message.message), message.code !== null && { code: message.code })
        void this.#worker.terminate()
        return
      case 'ask':
        return this.#ears.ask(message.name)
      case 'news':
        this.inFlight = message.counted.inFlight
        this.spans = message.spans
        return this.#ears.news(message.lines, message.counted)
      case 'synced':
        return this.#syncing.get(message.id)?.()
      case 'closed':
        return this.#closed.resolve()
    }
  }
}

/** Throws where the system has no room for a thread. */
function startWorker(entry: URL, settings: ListenerSettings): Worker {
  const port: MessagePort = settings.store
  const resourceLimits = { maxOldGenerationSizeMb: HEAP_MIB_MAX }
  try {
    return new Worker(entry, { workerData: settings, transferList: [port], resourceLimits, name: 'listener' })
  } catch (error) {
    // The store would wait for it when it closes.
    port.close()
    throw error
  }
}
