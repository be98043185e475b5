/** The thread that keeps the index of the search up to date, out of the way of records: it reads what is durable, over a connection of its own. */
import { workerData } from 'node:worker_threads'
import { runIndexer } from '../common/indexer-loop.ts'
import { Database } from './connections.ts'
import { makeIndexing } from './search/indexing.ts'
import type { PostgresSettings } from './settings.ts'

const settings: PostgresSettings = workerData
const database = await Database.open(settings)
const turn = makeIndexing(database)
let turning: Promise<unknown> | null = null

runIndexer({
  async turn() {
    const made = turn()
    turning = made
    return made.finally(() => (turning = null))
  },
  async close() {
    // A turn that is given up is made again by the next one.
    if (turning !== null) database.cut()
    await turning?.catch(() => undefined)
    await database.close()
  },
})
