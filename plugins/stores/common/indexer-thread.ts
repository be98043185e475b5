/** The thread that keeps the index of a search, as its store sees it: it runs while there is something to do. */
import type { Worker } from 'node:worker_threads'

/** 'wait': until it is woken again. 'due' and 'asked': now, whatever comes meanwhile. */
export type IndexerOrder = 'wake' | 'due' | 'asked' | 'wait' | 'rebuild' | 'close'
/** Nothing was left to do for a while. */
export type IndexerReport = 'resting'

/** A start has better things to do than to look for old records. */
const FIRST_LOOK_MS = 2000
/** Taking a record in costs about as much as serving it. So it waits until nothing came for so long, */
const QUIET_MS = 1000
/** until the first that waits has waited so long, or until somebody searches. */
const WAITING_MS_MAX = 60_000
/** An indexer that failed is not started again at once. */
const FAILED_REST_MS = 30_000

export class IndexerThread {
  readonly #start: () => Worker
  #thread: Worker | null = null
  #waking: NodeJS.Timeout | null = null
  #firstChangeAt: number | null = null
  #lastChangeAt = 0
  #isClosed = false
  /** While somebody works on the file of the index. */
  #isHeld = false

  constructor(start: () => Worker) {
    this.#start = start
    this.#wakeIn(FIRST_LOOK_MS)
  }

  /** Something was appended, evicted or archived. */
  wake(): void {
    // It may still be at what came before it was quiet.
    if (this.#thread !== null && this.#isQuiet()) tell(this.#thread, 'wait')
    this.#lastChangeAt = performance.now()
    this.#firstChangeAt ??= this.#lastChangeAt
    this.#wakeIn(QUIET_MS)
  }

  /** A search need not wait for the first look, or until it is quiet. */
  wakeNow(): void {
    if (this.#isClosed || (this.#thread !== null && this.#waking === null)) return
    if (this.#waking !== null) clearTimeout(this.#waking)
    this.#waking = null
    this.#index('asked')
  }

  /** The index is damaged. */
  rebuild(): void {
    if (this.#thread !== null) tell(this.#thread, 'rebuild')
  }

  /** Does something while no thread has the index open, and goes on. */
  async pause<T>(work: () => T): Promise<T> {
    this.#isHeld = true
    try {
      const thread = this.#thread
      this.#thread = null
      if (thread !== null) await ended(thread)
      return work()
    } finally {
      this.#isHeld = false
      this.#wakeIn(QUIET_MS)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#waking !== null) clearTimeout(this.#waking)
    if (this.#thread !== null) await ended(this.#thread)
  }

  #wakeIn(milliseconds: number): void {
    if (this.#isClosed) return
    this.#waking ??= setTimeout(() => {
      this.#waking = null
      if (this.#isBusy()) this.#wakeIn(QUIET_MS)
      else this.#index(this.#isQuiet() ? 'wake' : 'due')
    }, milliseconds).unref()
  }

  #isBusy(): boolean {
    return this.#firstChangeAt !== null && !this.#isQuiet() && performance.now() - this.#firstChangeAt < WAITING_MS_MAX
  }

  #isQuiet(): boolean {
    return performance.now() - this.#lastChangeAt >= QUIET_MS
  }

  #index(why: 'wake' | 'due' | 'asked'): void {
    if (this.#isHeld) return
    this.#firstChangeAt = null
    const isNew = this.#thread === null
    this.#thread ??= this.#started()
    if (!isNew || why !== 'wake') tell(this.#thread, why)
  }

  #started(): Worker {
    const thread = this.#start()
    thread.on('message', (report: IndexerReport) => {
      // With something to do in the meantime it is woken instead.
      if (report !== 'resting' || this.#waking !== null || this.#isClosed) return
      this.#thread = null
      void ended(thread)
    })
    // Whatever it was, records are stored all the same.
    thread.on('error', () => {
      if (this.#thread !== thread) return
      this.#thread = null
      this.#wakeIn(FAILED_REST_MS)
    })
    return thread
  }
}

const tell = (thread: Worker, order: IndexerOrder): void => thread.postMessage(order, [])

function ended(thread: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  thread.once('exit', () => resolve())
  tell(thread, 'close')
  return promise
}
