/** The one thread that writes: each group of calls is one transaction and one sync; between groups it tidies up. */
import { workerData } from 'node:worker_threads'
import { makeArchive } from './archive.ts'
import { makeAnswerGroup } from './group.ts'
import { Ledger } from './ledger.ts'
import { openForWriting, type WritableStore } from './open.ts'
import { openRefusal } from './refusals.ts'
import { threadPort } from './thread.ts'
import { makeTidy } from './tidy.ts'
import { makeTransact } from './transaction.ts'
import { toWire, type Reply, type StoreSettings, type WireGroup } from './wire.ts'

const port = threadPort()
const post = (reply: Reply) => port.postMessage(reply)
start(workerData)

function start(settings: StoreSettings): void {
  let store: WritableStore | null = null
  try {
    store = openForWriting(settings.directory)
    serve(settings, store)
    port.postMessage('ready')
  } catch (error) {
    store?.close()
    port.postMessage(toWire(openRefusal(error)))
    port.close()
  }
}

function serve({ directory, capacityBytes }: StoreSettings, { db, close }: WritableStore): void {
  const ledger = new Ledger(db)
  const transact = makeTransact(db, ledger)
  const archive = makeArchive(db, ledger)
  const tidy = makeTidy({ db, ledger, transact, archive, capacityBytes, onLoss: (lost) => post({ lost }) })
  const answerGroup = makeAnswerGroup(db, ledger, transact, archive)
  let tidying: NodeJS.Immediate | null = null

  transact(() => archive.recover(directory))
  tidySoon()
  port.on('message', (message: WireGroup | 'close') => {
    if (message === 'close') return stop()
    tidy.catchUp()
    post({ answers: answerGroup(message) })
    tidySoon()
  })

  /** After the messages that wait, so that groups and turns alternate. */
  function tidySoon(): void {
    tidying ??= setImmediate(() => {
      tidying = null
      if (tidy.turn()) tidySoon()
    })
  }

  function stop(): void {
    if (tidying !== null) clearImmediate(tidying)
    close()
    port.close()
  }
}
