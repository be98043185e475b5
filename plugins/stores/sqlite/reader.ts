/** The thread that reads, on a connection of its own: a read never waits for a sync, and the event loop never waits for a read. */
import { workerData, type MessagePort } from 'node:worker_threads'
import type { DatabaseSync } from 'node:sqlite'
import { StoreSeal } from '../common/seal.ts'
import { openForReading } from './open.ts'
import { makeQueries, type Queries } from './reading/queries.ts'
import { perform } from './reading/perform.ts'
import { isBusy, readFailed } from './refusals.ts'
import { threadPort } from './thread.ts'
import { toWire, type ReaderCall, type StoreReply, type StoreSettings, type ThreadOrder, type WireRefusal } from './messages/wire.ts'

const port = threadPort()
const settings: StoreSettings = workerData
let db: DatabaseSync | null = null
let queries: Queries | null = null

const joined = new Set<MessagePort>()
serve(port)

/** Calls of each port are answered there. */
function serve(from: MessagePort): void {
  from.on('message', (message: readonly ReaderCall[] | ThreadOrder) => {
    if (message === 'close') return from === port ? stop() : from.close()
    if ('joined' in message) return join(message.joined)
    answerGroup(message, from)
  })
}

function join(other: MessagePort): void {
  joined.add(other)
  other.once('close', () => joined.delete(other))
  serve(other)
}

function stop(): void {
  db?.close()
  for (const each of [...joined, port]) each.close()
}

function answerGroup(calls: readonly ReaderCall[], from: MessagePort): void {
  const transfer: ArrayBuffer[] = []
  let busy: WireRefusal | null = null
  const answers = calls.map((call) => {
    // The lock was waited for once already.
    if (busy !== null) return busy
    try {
      return perform(open(), call, transfer)
    } catch (error) {
      const refusal = toWire(readFailed(error))
      if (isBusy(error)) busy = refusal
      return refusal
    }
  })
  const reply: StoreReply = { answers }
  from.postMessage(reply, transfer)
}

/** With the first question: the thread starts beside the writer, which may still have to make the database. */
function open(): Queries {
  db ??= openForReading(settings.directory, settings.lockWaitMs)
  queries ??= makeQueries(db, new StoreSeal(settings))
  return queries
}
