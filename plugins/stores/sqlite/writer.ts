/** The one thread that writes: each group of calls is one transaction and one sync; between groups it tidies up. */
import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { Refusal, type StoreChange } from '../../../src/contract/index.ts'
import { makeAppend } from './append.ts'
import { makeArchive, type RecordArchive } from './archive.ts'
import { Changes } from './changes.ts'
import { makeCommit, makeKeepTotals } from './commit.ts'
import { makeConfigure } from './configure.ts'
import { StoreLeases } from './leases.ts'
import { StoreLedger } from './ledger.ts'
import { openForWriting } from './open.ts'
import { openRefusal, storageFailed } from './refusals.ts'
import { threadPort } from './thread.ts'
import { makeTidy } from './tidy.ts'
import { makeTransactions, type Transact } from './transaction.ts'
import { toWire } from './wire.ts'
import type { StoreReply, StoreSettings, WireCall, WireGroup, WireRefusal, WriterAnswers } from './wire.ts'

/** How often a store that refuses writes looks whether it must. */
const LOOK_AGAIN_MS = 250
/** What a look waits for a lock: programs that write for a moment are no trouble. */
const LOOK_WAIT_MS = 400

const port = threadPort()
const post = (reply: StoreReply) => port.postMessage(reply)
start(workerData)

type WritableStore = ReturnType<typeof openForWriting>

function start(settings: StoreSettings): void {
  let store: WritableStore | null = null
  try {
    store = openForWriting(settings.directory, settings.lockWaitMs)
    serve(settings, store)
    port.postMessage('ready')
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

function serve({ directory, capacityBytes, lockWaitMs }: StoreSettings, { db, close }: WritableStore): void {
  const ledger = new StoreLedger(db)
  const changes = new Changes()
  const archive = makeArchive(db, ledger, changes)
  recover(db, archive, directory)
  const transactions = makeTransactions({ db, ledger, directory, lockWaitMs, onTrouble: sayTrouble })
  const { transact } = transactions
  const tidy = makeTidy({ db, ledger, transact, archive, capacityBytes, onLoss: (lost) => post({ lost }) })
  const answerGroup = makeAnswerGroup({ db, ledger, transact, archive, changes })
  let tidying: NodeJS.Immediate | null = null
  let looking: NodeJS.Timeout | null = null

  tidySoon()
  port.on('message', (message: WireGroup | 'close' | 'look') => {
    if (message === 'close') return stop()
    if (message === 'look') return look(LOOK_WAIT_MS)
    tidy.catchUp()
    post(answerGroup(message))
    tidySoon()
  })

  /** After the messages that wait, so that groups and turns alternate. */
  function tidySoon(): void {
    tidying ??= setImmediate(() => {
      tidying = null
      if (tidy.turn()) tidySoon()
    })
  }

  /** Says how writing stands, also when that is nothing new. */
  function look(waitMs: number): void {
    transactions.look(waitMs)
    sayTrouble(transactions.trouble())
  }

  /** What passes is looked for until it has: no write is needed to find out. */
  function sayTrouble(trouble: Refusal | null): void {
    post({ trouble: trouble === null ? null : toWire(trouble) })
    if (trouble === null || transactions.isStopped()) return
    looking ??= setTimeout(() => {
      looking = null
      look(0)
    }, LOOK_AGAIN_MS)
  }

  function stop(): void {
    if (looking !== null) clearTimeout(looking)
    if (tidying !== null) clearImmediate(tidying)
    close()
    port.close()
  }
}

type Answer = WriterAnswers[keyof WriterAnswers] | WireRefusal

interface Answered {
  readonly answers: readonly Answer[]
  readonly changes: readonly StoreChange[]
}

interface AnswerNeeds {
  readonly db: DatabaseSync
  readonly ledger: StoreLedger
  readonly transact: Transact
  readonly archive: RecordArchive
  readonly changes: Changes
}

/** Answers a group of calls in one transaction and one sync, each call as if it were alone. */
function makeAnswerGroup({ db, ledger, transact, archive, changes }: AnswerNeeds): (group: WireGroup) => Answered {
  const append = makeAppend(db, ledger, changes)
  const leases = new StoreLeases(db)
  const commit = makeCommit({ db, ledger, leases, changes })
  const keepTotals = makeKeepTotals(db, ledger)
  const configure = makeConfigure(db, ledger, changes)
  return answerGroup

  function answerGroup({ calls, bytes }: WireGroup): Answered {
    try {
      return transact(() => {
        changes.begin()
        const answers = calls.map((call) => answer(call, bytes))
        return { answers, changes: changes.list() }
      })
    } catch (error) {
      if (error instanceof Refusal) return { answers: calls.map((call) => refused(call, error)), changes: [] }
      if (calls.length === 1) return { answers: [toWire(storageFailed(error))], changes: [] }
      // An unexpected failure must not spoil the call's neighbours: each gets a transaction of its own.
      const each = calls.map((call) => answerGroup({ calls: [call], bytes }))
      return { answers: each.flatMap(({ answers }) => answers), changes: each.flatMap((alone) => alone.changes) }
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

  /** A lease is let go whatever the disk does. */
  function refused(call: WireCall, refusal: Refusal): Answer {
    return 'op' in call && call.op === 'release' ? leases.release(call) : toWire(refusal)
  }

  function perform(call: WireCall, bytes: ArrayBuffer): Answer {
    if (!('op' in call)) return append(call, bytes)
    switch (call.op) {
      case 'commit':
        return commit(call.scenario, call.commit, call.fence)
      case 'totals':
        return keepTotals(call.scenario, call.totals)
      case 'configure':
        return configure(call.scenario, call.changes)
      case 'lease':
        return leases.take(call.name)
      case 'release':
        return leases.release(call)
      case 'archive_begin':
        return archive.begin(call.scenario, call.archive)
      case 'archive_finish':
        return archive.finish(call.key)
      default:
        return archive.abandon(call.key)
    }
  }
}
