/** Keeps the bodies within capacity: the oldest of all scenarios goes first, and what went is counted for good. */
import type { DatabaseSync } from 'node:sqlite'
import { HOUSEKEEPING_ROWS_PER_TURN, type Losses } from '../../../src/contract/index.ts'
import type { StoreLedger } from './ledger.ts'
import { Query } from './query.ts'
import { digestOf, RECORD_COLUMNS, recordRow, type RecordColumns } from './rows.ts'
import type { LossNotice } from './wire.ts'

/** Digesting reads every byte, so a turn of large bodies ends before its rows are used up. */
const EVICTED_BYTES_PER_TURN = 16 * 1024 * 1024

interface OldestColumns extends RecordColumns {
  readonly age: number
  readonly name: string
  readonly payload: Uint8Array
}

/** One turn, inside a transaction: takes bodies until capacity holds or the turn is over. Also a lone body larger than all capacity goes. */
export function makeEvict(db: DatabaseSync, ledger: StoreLedger, capacityBytes: number): () => LossNotice {
  const findOldest = new Query<OldestColumns>(
    db,
    `SELECT b.age, s.name, b.payload, ${RECORD_COLUMNS} FROM body b
     JOIN scenario s ON s.key = b.scenario JOIN record r ON r.scenario = b.scenario AND r.sequence = b.sequence
     ORDER BY b.age LIMIT 1`,
  )
  const keepDigest = db.prepare('UPDATE record SET digest = unhex(?), age = NULL WHERE scenario = ? AND sequence = ?')
  const removeBody = db.prepare('DELETE FROM body WHERE age = ?')
  const countLoss = db.prepare(
    `UPDATE scenario SET lost_records = lost_records + 1, lost_bytes = lost_bytes + ?1,
       lost_first_sequence = coalesce(lost_first_sequence, ?2), lost_last_sequence = ?2 WHERE key = ?3`,
  )

  return () => {
    const lost = new Map<string, Losses>()
    let turnBytes = 0
    for (let rows = 0; rows < HOUSEKEEPING_ROWS_PER_TURN && turnBytes < EVICTED_BYTES_PER_TURN; rows += 1) {
      if (ledger.bodyBytes <= capacityBytes) break
      const oldest = findOldest.first()
      if (oldest === undefined) break
      const bytes = evict(oldest)
      turnBytes += bytes
      const before = lost.get(oldest.name) ?? { records: 0, bytes: 0 }
      lost.set(oldest.name, { records: before.records + 1, bytes: before.bytes + bytes })
    }
    return [...lost]
  }

  function evict(oldest: OldestColumns): number {
    const account = ledger.find(oldest.name)
    if (account === null) throw new Error('a body of an archived scenario met eviction before its removal')
    const bytes = oldest.payload.byteLength
    keepDigest.run(digestOf({ ...recordRow(oldest), payload: oldest.payload }), account.key, oldest.sequence)
    removeBody.run(oldest.age)
    countLoss.run(bytes, oldest.sequence, account.key)
    ledger.change(account, account.head, -bytes)
    return bytes
  }
}
