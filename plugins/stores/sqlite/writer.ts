/** The one thread that writes: each group of calls is one transaction and one sync; between groups it tidies up, a turn at a time. */
import { workerData } from 'node:worker_threads'
import { Refusal, type RecordRow } from '../../../src/contract/index.ts'
import { makeAppend } from './append.ts'
import { makeArchive } from './archive.ts'
import { makeCommit } from './commit.ts'
import { makeEvict } from './evict.ts'
import { Ledger } from './ledger.ts'
import { openForWriting } from './open.ts'
import { openRefusal, storageFailed } from './refusals.ts'
import { threadPort } from './thread.ts'
import { makeTransact } from './transaction.ts'
import { toWire, type Reply, type StoreSettings, type WireCall, type WireGroup, type WireRefusal } from './wire.ts'

/** Over capacity by more than this share, groups wait until eviction has caught up, so that the bound is a bound. */
const EVICTION_LAG_SHARE = 1 / 16

type Answer = number | readonly (number | RecordRow)[] | null | WireRefusal

const port = threadPort()
const settings: StoreSettings = workerData
try {
  serve()
  port.postMessage('ready')
} catch (error) {
  port.postMessage(toWire(openRefusal(error)))
  port.close()
}

const post = (reply: Reply) => port.postMessage(reply)

function serve(): void {
  const { capacityBytes, directory } = settings
  const store = openForWriting(directory)
  const ledger = new Ledger(store.db)
  const transact = makeTransact(store.db, ledger)
  const append = makeAppend(store.db, ledger)
  const commit = makeCommit(store.db, ledger)
  const archive = makeArchive(store.db, ledger)
  const evict = makeEvict(store.db, ledger, capacityBytes)
  let tidying: NodeJS.Immediate | null = null

  transact(() => archive.recover(directory))
  port.on('message', (message: WireGroup | 'close') => {
    if (message === 'close') return close()
    while (ledger.bodyBytes > capacityBytes * (1 + EVICTION_LAG_SHARE) && tidy());
    post({ answers: answerGroup(message.calls, message.bytes) })
    tidySoon()
  })
  tidySoon()

  function answerGroup(calls: readonly WireCall[], bytes: ArrayBuffer): Answer[] {
    try {
      return transact(() => calls.map((call) => answer(call, bytes)))
    } catch (error) {
      if (error instanceof Refusal) return calls.map(() => toWire(error))
      if (calls.length === 1) return [toWire(storageFailed(error))]
      // A call nobody foresaw must not spoil its neighbours: each gets a transaction of its own.
      return calls.flatMap((call) => answerGroup([call], bytes))
    }
  }

  function answer(call: WireCall, bytes: ArrayBuffer): Answer {
    try {
      return perform(call, bytes)
    } catch (error) {
      if (error instanceof Refusal) return toWire(error)
      throw error
    }
  }

  function perform(call: WireCall, bytes: ArrayBuffer): Answer {
    if (!('op' in call)) return append(call, bytes)
    switch (call.op) {
      case 'commit':
        commit(call.scenario, call.commit)
        return null
      case 'archive_begin':
        return archive.begin(call.scenario, call.archive)
      case 'archive_finish':
        archive.finish(call.key)
        return null
      default:
        archive.abandon(call.key)
        return null
    }
  }

  /** After the messages that wait, so that groups and turns alternate. */
  function tidySoon(): void {
    tidying ??= setImmediate(() => {
      tidying = null
      if (tidy()) tidySoon()
    })
  }

  /** One turn; false when there is nothing to do, or the disk does not let us: then the next group brings the next try. */
  function tidy(): boolean {
    try {
      if (archive.hasRowsToClear()) transact(() => archive.clear())
      else if (ledger.bodyBytes > capacityBytes) post({ lost: transact(evict) })
      else return false
      return true
    } catch {
      return false
    }
  }

  function close(): void {
    if (tidying !== null) clearImmediate(tidying)
    store.close()
    port.close()
  }
}
