/**
 * The thread that keeps the index of the search up to date, behind the writer and out of its way: it reads what is durable, writes a file of
 * its own, and rests between its turns. It begins with what an earlier run left, and says when there is nothing left to do.
 */
import { statfsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { runIndexer, type IndexerTurn } from '../common/indexer-loop.ts'
import { openForReading } from './open.ts'
import { isDamage } from './refusals.ts'
import { openForIndexing, removeIndex } from './search/file.ts'
import { makeIndexing } from './search/indexing.ts'
import type { StoreSettings } from './messages/wire.ts'

/** The last of the disk is for records. */
const ROOM_BYTES_LEAST = 256 * 1024 * 1024

const { directory, lockWaitMs }: StoreSettings = workerData
const records = openForReading(directory, lockWaitMs)
let index: DatabaseSync | null = null
let indexing: ReturnType<typeof makeIndexing> | null = null

runIndexer({
  turn() {
    if (!hasRoom()) return 'waiting'
    try {
      return turn()
    } catch (error) {
      if (isDamage(error)) startOver()
      throw error
    }
  },
  startOver,
  close() {
    index?.close()
    records.close()
  },
})

function turn(): IndexerTurn {
  if (indexing === null) {
    index = openForIndexing(directory)
    indexing = makeIndexing(index, records)
    indexing.forgetOthers()
  }
  return indexing.turn() ? 'done' : 'nothing left'
}

function hasRoom(): boolean {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize >= ROOM_BYTES_LEAST
}

function startOver(): void {
  index?.close()
  index = null
  indexing = null
  removeIndex(directory)
}
