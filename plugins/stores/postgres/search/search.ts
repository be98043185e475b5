/** The search as the store sees it: a thread that keeps the index, while there is something to do, and one connection for questions. Neither is one that records wait for. */
import { Worker } from 'node:worker_threads'
import { storeClosed, type RecordSearch } from '../../../../src/contract/index.ts'
import { IndexerThread } from '../../common/indexer-thread.ts'
import type { StoreSeal } from '../../common/seal.ts'
import { Database } from '../connections.ts'
import { refusalOf } from '../refusals.ts'
import type { PostgresSettings } from '../settings.ts'
import { excerpts, find } from './find.ts'

/** One for questions, one for the thread. */
export const SEARCH_CONNECTIONS = 2

export class PostgresSearch {
  readonly #settings: PostgresSettings
  readonly #indexer: IndexerThread
  #database: Promise<Database> | null = null
  #isClosed = false

  constructor(settings: PostgresSettings) {
    this.#settings = { ...settings, connections: 1 }
    this.#indexer = new IndexerThread(() => startIndexer(this.#settings))
  }

  /** Excerpts are part of lists, and read like them. */
  in(name: string, records: Database, seal: StoreSeal): RecordSearch {
    return {
      find: async (query) => {
        const database = await this.#open()
        return find(database, name, query).catch((error: unknown) => {
          throw refusalOf(error)
        })
      },
      excerpts: (sequences) => excerpts(records, seal, name, sequences),
    }
  }

  /** Something was appended or archived. */
  wake(): void {
    this.#indexer.wake()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#indexer.close()
    const database = await this.#database?.catch(() => null)
    await database?.close()
  }

  #open(): Promise<Database> {
    if (this.#isClosed) throw storeClosed()
    this.#indexer.wakeNow()
    this.#database ??= Database.open(this.#settings)
    return this.#database
  }
}

export async function removeIndex(database: Database): Promise<void> {
  await database.rows({ text: 'TRUNCATE search_entry, searched' })
}

function startIndexer(settings: PostgresSettings): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`../indexer.${extension}`, import.meta.url), { workerData: settings })
}
