/** The search as the store sees it: one thread that keeps the index, while there is something to do, and one that answers, from the first question on. */
import { isRefusal, storeClosed, type RecordSearch } from '../../../../src/contract/index.ts'
import { IndexerThread } from '../../common/indexer-thread.ts'
import { Channel } from '../messages/channel.ts'
import { startThread } from '../thread.ts'
import type { SearcherAnswers, SearcherCall, StoreSettings } from '../messages/wire.ts'

const GROUPS_IN_FLIGHT = 1

type Searcher = Channel<SearcherCall, SearcherAnswers>

export class StoreSearch {
  readonly #settings: StoreSettings
  readonly #indexer: IndexerThread
  #searcher: Searcher | null = null
  #remaking: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(settings: StoreSettings) {
    this.#settings = settings
    this.#indexer = new IndexerThread(() => startThread('indexer', settings))
  }

  in(scenario: string): RecordSearch {
    return {
      find: (query) => this.#ask({ op: 'find', scenario, query }),
      excerpts: (sequences) => this.#ask({ op: 'excerpts', scenario, sequences }),
    }
  }

  /** Something was appended, evicted or archived. */
  wake(): void {
    this.#indexer.wake()
  }

  /** Does something while nobody has the index open, such as removing it: what is missing is made anew. */
  without<T>(work: () => T): Promise<T> {
    const paused = this.#pause(work)
    this.#remaking = paused.catch(() => undefined)
    return paused
  }

  async #pause<T>(work: () => T): Promise<T> {
    const searcher = this.#searcher
    this.#searcher = null
    await searcher?.close()
    return this.#indexer.pause(work)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([this.#searcher?.close(), this.#indexer.close()])
  }

  async #ask<Op extends SearcherCall['op']>(call: Extract<SearcherCall, { op: Op }>): Promise<SearcherAnswers[Op]> {
    await this.#remaking
    if (this.#isClosed) throw storeClosed()
    this.#indexer.wakeNow()
    this.#searcher ??= new Channel<SearcherCall, SearcherAnswers>(startThread('searcher', this.#settings), {
      groupsInFlight: GROUPS_IN_FLIGHT,
      waitingBytesMax: Number.POSITIVE_INFINITY,
      pack: (calls) => ({ message: calls }),
    })
    try {
      return await this.#searcher.ask(call)
    } catch (error) {
      if (isRefusal(error) && error.code === 'store_damaged') this.#indexer.rebuild()
      throw error
    }
  }
}
