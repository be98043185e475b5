/** The one thread that writes: all that waits is one transaction and one sync; between them it tidies up. */
import type { DatabaseSync } from 'node:sqlite'
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import type { Refusal } from '../../../src/contract/index.ts'
import { collectOnceIdle } from '../../../src/kit/index.ts'
import { StoreSeal } from '../common/seal.ts'
import { makeAnswerGroups, type ReceivedGroup } from './writing/answers.ts'
import { makeArchive, type RecordArchive } from './writing/archive.ts'
import { Changes } from './writing/changes.ts'
import { makeCompression } from './bodies/compression.ts'
import { StoreLeases } from './writing/leases.ts'
import { StoreLedger } from './writing/ledger.ts'
import { settleKeys } from './keys.ts'
import { StoreMembers } from './writing/members.ts'
import { openForWriting } from './open.ts'
import { openRefusal } from './refusals.ts'
import { threadPort } from './thread.ts'
import { makeTidy } from './writing/tidy.ts'
import { makeTransactions } from './writing/transaction.ts'
import { GROUP_BYTES_MAX, toWire, type StoreSettings, type ThreadOrder, type WireGroup } from './messages/wire.ts'

/** How often a store that refuses writes looks whether it must. */
const LOOK_AGAIN_MS = 250
/** What a look waits for a lock: programs that write for a moment are no trouble. */
const LOOK_WAIT_MS = 400

const port = threadPort()
// Its settings come as a message, since it may be started before they are known.
port.once('message', start)

type WritableStore = ReturnType<typeof openForWriting>
type Order = ThreadOrder | 'look'

function start(settings: StoreSettings): void {
  let store: WritableStore | null = null
  try {
    store = openForWriting(settings.directory, settings.lockWaitMs)
    serve(settings, store)
    port.postMessage('ready')
    void collectOnceIdle()
  } catch (error) {
    store?.close()
    port.postMessage(toWire(openRefusal(error)))
    port.close()
  }
}

/** Before anything is asked: what is locked now is waited for like the opening itself, and refuses the start. */
function recover(db: DatabaseSync, archive: RecordArchive, directory: string): void {
  db.exec('BEGIN IMMEDIATE')
  archive.recover(directory)
  db.exec('DELETE FROM setting')
  db.exec('COMMIT')
}

function serve(settings: StoreSettings, { db, close }: WritableStore): void {
  const { directory, capacityBytes, lockWaitMs } = settings
  const seal = new StoreSeal(settings)
  const ledger = new StoreLedger(db)
  const changes = new Changes()
  const leases = new StoreLeases(db)
  const archive = makeArchive(db, ledger, changes)
  settleKeys(db, seal)
  recover(db, archive, directory)
  const members = new StoreMembers()
  const transactions = makeTransactions({ db, ledger, directory, lockWaitMs, onTrouble: sayTrouble })
  const { transact } = transactions
  const tidy = makeTidy({ db, ledger, transact, archive, seal, capacityBytes, onLoss: (lost) => members.post({ lost }) })
  const compression = makeCompression({ db, ledger, transact, seal })
  const answerGroups = makeAnswerGroups({ db, ledger, transact, archive, leases, changes, seal })
  let tidying: NodeJS.Immediate | null = null
  let looking: NodeJS.Timeout | null = null

  tidySoon()
  join(port)

  function join(member: MessagePort): void {
    members.add(member)
    member.on('message', (message: WireGroup | Order) => receive(member, message))
    member.once('close', () => leave(member))
  }

  /** What waits on the other ports shares the transaction. */
  function receive(first: MessagePort, message: WireGroup | Order): void {
    const groups: ReceivedGroup[] = []
    const orders: (readonly [MessagePort, Order])[] = []
    let bytes = 0
    take(first, message)
    for (const member of members.ports()) takeWaiting(member)
    if (groups.length > 0) {
      tidy.catchUp()
      members.answer(groups, answerGroups(groups))
      tidySoon()
    }
    for (const [from, order] of orders) obey(from, order)

    function takeWaiting(from: MessagePort): void {
      while (bytes < GROUP_BYTES_MAX) {
        const next: { readonly message: WireGroup | Order } | undefined = receiveMessageOnPort(from)
        if (next === undefined) return
        take(from, next.message)
      }
    }

    function take(from: MessagePort, taken: WireGroup | Order): void {
      if (typeof taken === 'string' || 'joined' in taken) return void orders.push([from, taken])
      groups.push({ from, ...taken })
      bytes += taken.byteLength
    }
  }

  function obey(from: MessagePort, order: Order): void {
    if (order === 'look') return look(LOOK_WAIT_MS)
    if (order === 'close') return from === port ? stop() : from.close()
    join(order.joined)
    order.joined.postMessage('ready', [])
    const trouble = transactions.trouble()
    if (trouble !== null) order.joined.postMessage({ trouble: toWire(trouble) }, [])
  }

  /** Its thread closed the store, or died. */
  function leave(member: MessagePort): void {
    members.drop(member)
    leases.releaseAll(member)
    if (!archive.isArchiving(member)) return
    try {
      transact(() => archive.recover(directory, member))
    } catch {
      // The next opening recovers it.
    }
  }

  /** After the messages that wait, so that groups and turns alternate. */
  function tidySoon(): void {
    tidying ??= setImmediate(() => {
      tidying = null
      if (tidy.turn()) tidySoon()
      else compression.soon()
    })
  }

  /** Says how writing stands, also when that is nothing new. */
  function look(waitMs: number): void {
    transactions.look(waitMs)
    sayTrouble(transactions.trouble())
  }

  /** What passes is looked for until it has: no write is needed to find out. */
  function sayTrouble(trouble: Refusal | null): void {
    members.post({ trouble: trouble === null ? null : toWire(trouble) })
    if (trouble === null || transactions.isStopped()) return
    looking ??= setTimeout(() => {
      looking = null
      look(0)
    }, LOOK_AGAIN_MS)
  }

  function stop(): void {
    if (looking !== null) clearTimeout(looking)
    if (tidying !== null) clearImmediate(tidying)
    compression.stop()
    close()
    members.close()
  }
}
