/** One transaction, one sync. What fails leaves no trace; a lock of another program is waited for; a disk that fails a sync is not trusted again. */
import { statfsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { Refusal } from '../../../../src/contract/index.ts'
import type { StoreLedger } from './ledger.ts'
import { isBusy, isDamage, isFull, writeRefusal } from '../refusals.ts'

/** A lock that is held longer than this is reported as trouble with writing. */
const LOCK_REPORTED_AFTER_MS = 400
/** Once a lock outlasted a whole wait, later calls wait this long at most, so that they are refused soon while it stays. */
const KNOWN_LOCK_WAIT_MS = 1000
const LOCK_RETRY_MS = 10
/** After the disk was full, writes are expected to go through again once this much of it is free. */
const ROOM_BYTES_LEAST = 1024 * 1024

const sleeper = new Int32Array(new SharedArrayBuffer(4))

/**
 * Runs the work and commits it. Contract: what the disk refuses comes out as a Refusal, anything else as it was thrown; either way the
 * database and the ledger are as before. While another program holds the write lock, the work is tried again until the wait is over. A full
 * disk may be tried again too, and so may whatever failed before anything was written. After a failed write or sync every later call is
 * refused, because the system may have dropped pages it failed to write and would report the next sync as good.
 */
export type Transact = <T>(work: () => T, waitMs?: number) => T

export interface TransactionNeeds {
  readonly db: DatabaseSync
  readonly ledger: StoreLedger
  readonly directory: string
  readonly lockWaitMs: number
  readonly onTrouble: (trouble: Refusal | null) => void
}

export function makeTransactions({ db, ledger, directory, lockWaitMs, onTrouble }: TransactionNeeds) {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const version = db.prepare('PRAGMA user_version').get()?.['user_version']
  /** Why writes are refused for good. */
  let stopped: Refusal | null = null
  let trouble: Refusal | null = null
  let usualWaitMs = lockWaitMs
  // The waiting is done here, where it can be reported.
  db.exec('PRAGMA busy_timeout = 0')

  return { transact, look, trouble: () => trouble, isStopped: () => stopped !== null }

  function transact<T>(work: () => T, waitMs = usualWaitMs): T {
    const since = performance.now()
    for (;;) {
      if (stopped !== null) throw stopped
      try {
        const result = attempt(work)
        usualWaitMs = lockWaitMs
        // That there is room is known only once something was written.
        if (trouble?.code !== 'disk_full') report(null)
        return result
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'store_busy') throw error
        const waitedMs = performance.now() - since
        if (waitedMs >= Math.min(lockWaitMs, LOCK_REPORTED_AFTER_MS)) report(error)
        if (waitedMs >= lockWaitMs) usualWaitMs = Math.min(lockWaitMs, KNOWN_LOCK_WAIT_MS)
        if (waitedMs >= waitMs) throw error
        Atomics.wait(sleeper, 0, 0, LOCK_RETRY_MS)
      }
    }
  }

  function attempt<T>(work: () => T): T {
    takeLock()
    try {
      const result = work()
      ledger.save()
      commit.run()
      return result
    } catch (error) {
      const undone = undo(db)
      ledger.forget()
      throw undone === null ? refused(error, isBusy(error) || isFull(error)) : refused(undone, false)
    }
  }

  /** Nothing is written before it is held. */
  function takeLock(): void {
    try {
      begin.run()
    } catch (error) {
      throw refused(error, !isDamage(error))
    }
  }

  /** The failure in the words of the contract, and what follows from it; one that is not the disk's as it was thrown. */
  function refused(error: unknown, mayPass: boolean): unknown {
    const refusal = writeRefusal(error)
    if (refusal === null) return error
    if (!mayPass) stopped = refusal
    if (refusal.code !== 'store_busy') report(refusal)
    return refusal
  }

  /** Finds out whether a write would go through now, and waits for a lock no longer than this. */
  function look(waitMs: number): void {
    try {
      if (trouble?.code !== 'disk_full') return transact(() => undefined, waitMs)
      transact(proveRoom, waitMs)
      report(null)
    } catch {
      // It was reported already.
    }
  }

  /** A real write, durable like any other, of what the database says already. */
  function proveRoom(): void {
    const { bavail, bsize } = statfsSync(directory)
    if (trouble !== null && bavail * bsize < ROOM_BYTES_LEAST) throw trouble
    db.exec(`PRAGMA user_version = ${Number(version)}`)
  }

  function report(now: Refusal | null): void {
    if (now?.code === trouble?.code) return
    trouble = now
    onTrouble(now)
  }
}

/** Some failures have ended the transaction already; one that cannot be undone is worse than what it was undone for. */
function undo(db: DatabaseSync): unknown {
  try {
    if (db.isTransaction) db.exec('ROLLBACK')
    return null
  } catch (error) {
    return error
  }
}
