/** Empties records of somebody who is forgotten, a few with each call, in the writer. */
import type { DatabaseSync } from 'node:sqlite'
import type { StoreSeal } from '../../common/seal.ts'
import { makeEmptyRecord } from './empty-record.ts'
import type { StoreLedger } from './ledger.ts'
import type { EmptyAnswer } from '../messages/wire.ts'

/** Bytes read and written anew, so that a turn of large bodies ends early. */
const BYTES_PER_TURN = 4 * 1024 * 1024

/** At least one is emptied. */
export function makeEmpty(
  db: DatabaseSync,
  ledger: StoreLedger,
  seal: StoreSeal,
): (scenario: string, sequences: readonly number[]) => EmptyAnswer {
  const emptyRecord = makeEmptyRecord(db, seal)
  return (scenario, sequences) => {
    const account = ledger.open(scenario)
    let [emptied, rewritten, worked] = [0, 0, 0]
    for (const sequence of sequences) {
      if (worked >= BYTES_PER_TURN) break
      emptied += 1
      const done = emptyRecord(account.key, sequence)
      if (done === null) continue
      worked += done.workedBytes
      rewritten += done.rewritten
      if (done.age !== null) ledger.bases.remove(done.age)
      ledger.change(account, account.head, -done.freedBytes)
    }
    return { emptied, rewritten }
  }
}
