/** The search as the store sees it: one thread that keeps the index, while there is something to do, and one that answers, from the first question on. */
import type { Worker } from 'node:worker_threads'
import { isRefusal, storeClosed, type RecordSearch } from '../../../../src/contract/index.ts'
import { Channel } from '../channel.ts'
import { onEnd, startThread } from '../thread.ts'
import type { IndexerOrder, IndexerReport, SearcherAnswers, SearcherCall, StoreSettings } from '../wire.ts'

/** A start has better things to do than to look for old records. */
const FIRST_LOOK_MS = 2000
/** Taking a record in costs about as much as serving it. So it waits until nothing came for so long, */
const QUIET_MS = 1000
/** until the first that waits has waited so long, or until somebody searches. */
const WAITING_MS_MAX = 60_000
/** An indexer that failed is not started again at once. */
const FAILED_REST_MS = 30_000
const GROUPS_IN_FLIGHT = 1

type Searcher = Channel<SearcherCall, SearcherAnswers>

export class StoreSearch {
  readonly #settings: StoreSettings
  #indexer: Worker | null = null
  #searcher: Searcher | null = null
  #waking: NodeJS.Timeout | null = null
  #firstChangeAt: number | null = null
  #lastChangeAt = 0
  #isClosed = false

  constructor(settings: StoreSettings) {
    this.#settings = settings
    this.#wakeIn(FIRST_LOOK_MS)
  }

  in(scenario: string): RecordSearch {
    return {
      find: (query) => this.#ask({ op: 'find', scenario, query }),
      excerpts: (sequences) => this.#ask({ op: 'excerpts', scenario, sequences }),
    }
  }

  /** Something was appended, evicted or archived. */
  wake(): void {
    this.#lastChangeAt = performance.now()
    this.#firstChangeAt ??= this.#lastChangeAt
    this.#wakeIn(QUIET_MS)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#waking !== null) clearTimeout(this.#waking)
    await Promise.all([this.#searcher?.close(), this.#indexer === null ? undefined : ended(this.#indexer)])
  }

  async #ask<Op extends SearcherCall['op']>(call: Extract<SearcherCall, { op: Op }>): Promise<SearcherAnswers[Op]> {
    if (this.#isClosed) throw storeClosed()
    if (this.#indexer === null || this.#waking !== null) this.#wakeNow()
    this.#searcher ??= new Channel<SearcherCall, SearcherAnswers>(startThread('searcher', this.#settings), {
      groupsInFlight: GROUPS_IN_FLIGHT,
      waitingBytesMax: Number.POSITIVE_INFINITY,
      pack: (calls) => ({ message: calls }),
    })
    try {
      return await this.#searcher.ask(call)
    } catch (error) {
      if (isRefusal(error) && error.code === 'store_damaged' && this.#indexer !== null) tell(this.#indexer, 'rebuild')
      throw error
    }
  }

  /** Whoever searches need not wait for the first look, or until it is quiet. */
  #wakeNow(): void {
    if (this.#waking !== null) clearTimeout(this.#waking)
    this.#waking = null
    this.#index()
  }

  #wakeIn(milliseconds: number): void {
    if (this.#isClosed) return
    this.#waking ??= setTimeout(() => {
      this.#waking = null
      if (this.#isBusy()) this.#wakeIn(QUIET_MS)
      else this.#index()
    }, milliseconds).unref()
  }

  #isBusy(): boolean {
    const now = performance.now()
    return this.#firstChangeAt !== null && now - this.#lastChangeAt < QUIET_MS && now - this.#firstChangeAt < WAITING_MS_MAX
  }

  #index(): void {
    this.#firstChangeAt = null
    if (this.#indexer === null) this.#indexer = this.#startIndexer()
    else tell(this.#indexer, 'wake')
  }

  #startIndexer(): Worker {
    const thread = startThread('indexer', this.#settings)
    thread.on('message', (report: IndexerReport) => {
      // With something to do in the meantime it is woken instead.
      if (report !== 'resting' || this.#waking !== null || this.#isClosed) return
      this.#indexer = null
      void ended(thread)
    })
    // Whatever it was, records are stored all the same.
    thread.on('error', () => {
      if (this.#indexer !== thread) return
      this.#indexer = null
      this.#wakeIn(FAILED_REST_MS)
    })
    return thread
  }
}

const tell = (thread: Worker, order: IndexerOrder): void => thread.postMessage(order, [])

function ended(thread: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  onEnd(thread, () => resolve())
  tell(thread, 'close')
  return promise
}
