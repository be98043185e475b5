/** The thread that answers searches, so that no other read waits for one. */
import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { StoreSeal } from '../common/seal.ts'
import { openForReading } from './open.ts'
import { indexDamaged, isDamage, readFailed } from './refusals.ts'
import { indexIdentity, openForSearching } from './search/file.ts'
import { makeExcerpts, makeFind } from './search/find.ts'
import { threadPort } from './thread.ts'
import { toWire, type SearcherAnswers, type SearcherCall, type StoreReply, type StoreSettings, type WireRefusal } from './messages/wire.ts'

const port = threadPort()
const settings: StoreSettings = workerData
const { directory, lockWaitMs } = settings
let records: DatabaseSync | null = null

port.on('message', (message: readonly SearcherCall[] | 'close') => {
  if (message === 'close') return stop()
  const reply: StoreReply = { answers: message.map(answer) }
  port.postMessage(reply)
})

function answer(call: SearcherCall): SearcherAnswers[SearcherCall['op']] | WireRefusal {
  try {
    return answerWhileRemade(call)
  } catch (error) {
    return toWire(isDamage(error) ? indexDamaged(error) : readFailed(error))
  }
}

/** The indexer removes an index that it makes anew, whoever reads it: any error may follow, and until there is a new one there is none. */
function answerWhileRemade(call: SearcherCall): SearcherAnswers[SearcherCall['op']] {
  const before = indexIdentity(directory)
  try {
    return answerFrom(openForSearching, call)
  } catch (error) {
    if (indexIdentity(directory) === before) throw error
    return answerFrom(() => null, call)
  }
}

/** The index is opened for each call: it may have been made anew since the last one. */
function answerFrom(openIndex: typeof openForSearching, call: SearcherCall): SearcherAnswers[SearcherCall['op']] {
  records ??= openForReading(directory, lockWaitMs)
  const index = openIndex(directory)
  try {
    if (call.op === 'excerpts') return makeExcerpts(index, records, new StoreSeal(settings))(call.scenario, call.sequences)
    return makeFind(index, records)(call.scenario, call.query)
  } finally {
    index?.close()
  }
}

function stop(): void {
  records?.close()
  port.close()
}
