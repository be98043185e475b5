/** Removes a body within the writer's transaction: its row stays, with the digest that a retry is compared with. */
import type { DatabaseSync } from 'node:sqlite'
import { contentDigest } from '../../../src/contract/index.ts'
import { BODY_COLUMNS, compress, LEVEL, readWholeBody, WITH_BASE, type BodyColumns } from './bodies.ts'
import type { Account, StoreLedger } from './ledger.ts'
import { Query } from './query.ts'
import { RECORD_COLUMNS, recordRow, type RecordColumns } from './rows.ts'

export const REMOVED_COLUMNS = `b.age, ${BODY_COLUMNS}, ${RECORD_COLUMNS}`

export interface RemovedColumns extends RecordColumns, BodyColumns {
  readonly age: number
  readonly payload: Uint8Array
}

/** No other body may refer to it. Answers how many bytes it took. */
export function makeRemoveBody(db: DatabaseSync, ledger: StoreLedger): (account: Account, body: RemovedColumns) => number {
  const keepDigest = db.prepare('UPDATE record SET digest = unhex(?), age = NULL WHERE scenario = ? AND sequence = ?')
  const removeBody = db.prepare('DELETE FROM body WHERE age = ?')
  return (account, body) => {
    const bytes = body.payload.byteLength
    // What is damaged is known by the bytes that were there, and so equals nothing that is sent again.
    const payload = readWholeBody(body) ?? body.payload
    keepDigest.run(contentDigest({ ...recordRow(body), payload }), account.key, body.sequence)
    removeBody.run(body.age)
    ledger.bases.remove(body.age)
    ledger.change(account, account.head, -bytes)
    return bytes
  }
}

export interface Detached {
  /** Of the original, which was read and compressed anew. */
  readonly originalBytes: number
  /** What it takes more than before. */
  readonly addedBytes: number
}

/** Writes a body anew so that it refers to no other. One that is damaged stays as damaged as it is. */
export function makeDetach(db: DatabaseSync): (age: number) => Detached {
  const read = new Query<BodyColumns>(db, `SELECT ${BODY_COLUMNS} FROM body b ${WITH_BASE} WHERE b.age = ?`)
  const rewrite = db.prepare('UPDATE body SET payload = ?, size = ? WHERE age = ?')
  const detach = db.prepare('DELETE FROM body_base WHERE age = ?')
  return (age) => {
    const columns = read.first(age)
    const original = columns === undefined ? null : readWholeBody(columns)
    detach.run(age)
    if (original === null) return { originalBytes: 0, addedBytes: 0 }
    const compressed = compress(original, null, 0, LEVEL)
    const isSmaller = compressed !== null && compressed.byteLength < original.byteLength
    const payload = isSmaller ? compressed : original
    rewrite.run(payload, isSmaller ? original.byteLength : null, age)
    return { originalBytes: original.byteLength, addedBytes: payload.byteLength - (columns?.payload?.byteLength ?? 0) }
  }
}
