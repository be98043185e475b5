/** The thread that answers searches, so that no other read waits for one. */
import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { StoreSeal } from '../common/seal.ts'
import { openForReading } from './open.ts'
import { indexDamaged, isDamage, readFailed } from './refusals.ts'
import { openForSearching } from './search/file.ts'
import { makeExcerpts, makeFind } from './search/find.ts'
import { threadPort } from './thread.ts'
import { toWire, type SearcherAnswers, type SearcherCall, type StoreReply, type StoreSettings, type WireRefusal } from './wire.ts'

const port = threadPort()
const settings: StoreSettings = workerData
const { directory, lockWaitMs } = settings
let records: DatabaseSync | null = null

port.on('message', (message: readonly SearcherCall[] | 'close') => {
  if (message === 'close') return stop()
  const reply: StoreReply = { answers: message.map(answer) }
  port.postMessage(reply)
})

/** The index is opened for each call: it may have been made anew since the last one. */
function answer(call: SearcherCall): SearcherAnswers[SearcherCall['op']] | WireRefusal {
  let index: DatabaseSync | null = null
  try {
    records ??= openForReading(directory, lockWaitMs)
    index = openForSearching(directory)
    if (call.op === 'excerpts') return makeExcerpts(index, records, new StoreSeal(settings))(call.scenario, call.sequences)
    return makeFind(index, records)(call.scenario, call.query)
  } catch (error) {
    return toWire(isDamage(error) ? indexDamaged(error) : readFailed(error))
  } finally {
    index?.close()
  }
}

function stop(): void {
  records?.close()
  port.close()
}
