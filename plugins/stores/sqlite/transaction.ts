/** One transaction, one sync. What fails leaves no trace; a disk that fails a sync is not trusted again. */
import type { DatabaseSync } from 'node:sqlite'
import type { Refusal } from '../../../src/contract/index.ts'
import type { Ledger } from './ledger.ts'
import { writeRefusal } from './refusals.ts'

/**
 * Runs the work and commits it. Contract: what the disk refuses comes out as a Refusal, anything else as it was thrown; either way the
 * database and the ledger are as before. A full disk may be tried again. After any other failure of the disk every later call is refused,
 * because the system may have dropped pages it failed to write and would report the next sync as good.
 */
export type Transact = <T>(work: () => T) => T

export function makeTransact(db: DatabaseSync, ledger: Ledger): Transact {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  let stopped: Refusal | null = null

  return (work) => {
    if (stopped !== null) throw stopped
    try {
      begin.run()
      const result = work()
      ledger.save()
      commit.run()
      return result
    } catch (error) {
      const refusal = undo(db) ?? writeRefusal(error)
      ledger.forget()
      if (refusal?.code !== 'disk_full') stopped = refusal
      throw refusal ?? error
    }
  }
}

/** Some failures have ended the transaction already; one that cannot be undone is worse than what it was undone for. */
function undo(db: DatabaseSync): Refusal | null {
  try {
    if (db.isTransaction) db.exec('ROLLBACK')
    return null
  } catch (error) {
    return writeRefusal(error)
  }
}
