/** Removes bodies for their age: the reader looks for them, a page of rows at a time, and the writer removes a few with each call. */
import type { DatabaseSync } from 'node:sqlite'
import { HOUSEKEEPING_ROWS_PER_TURN, type ExpiryPage } from '../../../../src/contract/index.ts'
import type { StoreSeal } from '../../common/seal.ts'
import { IS_BASE, WITH_BASE } from '../bodies/bodies.ts'
import type { Account, StoreLedger } from './ledger.ts'
import { KEY, Query } from '../query.ts'
import { makeDetach, makeRemoveBody, REMOVED_COLUMNS, type RemovedColumns } from './remove.ts'
import type { ExpireAnswer, ExpiredRows } from '../messages/wire.ts'

/** Looking at a row takes less than a microsecond. */
const ROWS_PER_PAGE = 4096
/** Bytes read and written anew, so that a turn of large bodies ends early. */
const BYTES_PER_TURN = 4 * 1024 * 1024

/** Sequences have no gaps, so a page is a stretch of them. */
export function makeExpired(db: DatabaseSync): (scenario: string, page: ExpiryPage) => ExpiredRows {
  const selectHead = new Query<{ head: number }>(db, 'SELECT head FROM scenario WHERE name = ?')
  const select = new Query<{ sequence: number }>(
    db,
    `SELECT sequence FROM record WHERE scenario = ${KEY} AND sequence >= ? AND sequence < ? AND created_at < ? AND age IS NOT NULL
     ORDER BY sequence DESC LIMIT ${HOUSEKEEPING_ROWS_PER_TURN}`,
  )
  return (scenario, { madeBefore, below }) => {
    const end = Math.min(below, (selectHead.first(scenario)?.head ?? 0) + 1)
    const start = Math.max(1, end - ROWS_PER_PAGE)
    const sequences = select.all(scenario, start, end, madeBefore).map(({ sequence }) => sequence)
    const next = sequences.length === HOUSEKEEPING_ROWS_PER_TURN ? (sequences.at(-1) ?? start) : start
    return { sequences, next: next === 1 ? null : next }
  }
}

/**
 * The newest go first, since bodies refer to older ones: what refers to one of them is gone before it, or stays and is written anew.
 */
export function makeExpire(
  db: DatabaseSync,
  ledger: StoreLedger,
  seal: StoreSeal,
): (scenario: string, sequences: readonly number[]) => ExpireAnswer {
  const find = new Query<RemovedColumns & { readonly is_base: number }>(
    db,
    `SELECT ${REMOVED_COLUMNS}, ${IS_BASE} AS is_base FROM record r JOIN body b ON b.age = r.age ${WITH_BASE}
     WHERE r.scenario = ? AND r.sequence = ?`,
  )
  const findReferring = new Query<{ age: number }>(db, 'SELECT age FROM body_base WHERE base = ?')
  const count = db.prepare('UPDATE scenario SET expired_records = expired_records + ?, expired_bytes = expired_bytes + ? WHERE key = ?')
  const removeBody = makeRemoveBody(db, ledger, seal)
  const detach = makeDetach(db, seal)

  return (scenario, sequences) => {
    const account = ledger.open(scenario)
    const removed = removeAll(account, sequences)
    count.run(removed.records, removed.bytes, account.key)
    return removed
  }

  function removeAll(account: Account, sequences: readonly number[]): ExpireAnswer {
    let [records, bytes, worked] = [0, 0, 0]
    for (const sequence of sequences) {
      if (worked >= BYTES_PER_TURN) return { records, bytes, below: sequence + 1 }
      const body = find.first(account.key, sequence)
      // Capacity took it meanwhile.
      if (body === undefined) continue
      worked += body.size ?? body.payload.byteLength
      if (body.is_base === 1) {
        worked += detachAll(account, body.age, BYTES_PER_TURN - worked)
        if (worked >= BYTES_PER_TURN) return { records, bytes, below: sequence + 1 }
      }
      bytes += removeBody(account, body)
      records += 1
    }
    return { records, bytes, below: null }
  }

  /** Answers how much was written anew; as much as was given means that some may still refer to it. */
  function detachAll(account: Account, base: number, bytesMax: number): number {
    let bytes = 0
    for (const { age } of findReferring.all(base)) {
      const { originalBytes, addedBytes } = detach(age)
      bytes += originalBytes
      ledger.change(account, account.head, addedBytes)
      if (bytes >= bytesMax) return Math.max(bytes, bytesMax)
    }
    return bytes
  }
}
