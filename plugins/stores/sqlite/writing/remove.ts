/** Removes a body within the writer's transaction: its row stays, with the digest that a retry is compared with. */
import type { DatabaseSync } from 'node:sqlite'
import { contentDigest } from '../../../../src/contract/index.ts'
import { digestContext, type StoreSeal } from '../../common/seal.ts'
import { BODY_COLUMNS, compress, LEVEL, readWholeBody, sealBody, WITH_BASE, type BodyColumns } from '../bodies/bodies.ts'
import type { Account, StoreLedger } from './ledger.ts'
import { Query } from '../query.ts'
import { RECORD_COLUMNS, recordRow, type RecordColumns } from '../rows.ts'

export const REMOVED_COLUMNS = `b.age, ${BODY_COLUMNS}, ${RECORD_COLUMNS}`

export interface RemovedColumns extends RecordColumns, BodyColumns {
  readonly age: number
  readonly payload: Uint8Array
}

/** No other body may refer to it. Answers how many bytes it took. */
export function makeRemoveBody(db: DatabaseSync, ledger: StoreLedger, seal: StoreSeal): (account: Account, body: RemovedColumns) => number {
  const keepDigest = db.prepare('UPDATE record SET digest = ?, age = NULL WHERE scenario = ? AND sequence = ?')
  const removeBody = db.prepare('DELETE FROM body WHERE age = ?')
  return (account, body) => {
    const bytes = body.payload.byteLength
    // What is damaged is known by the bytes that were there, and so equals nothing that is sent again.
    const payload = readWholeBody(seal, body) ?? body.payload
    const digest = contentDigest({ ...recordRow(body), payload })
    keepDigest.run(seal.sealDigest(digest, digestContext(account.key, body.agent_record_id)), account.key, body.sequence)
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
export function makeDetach(db: DatabaseSync, seal: StoreSeal): (age: number) => Detached {
  const read = new Query<BodyColumns & { readonly id: string }>(
    db,
    `SELECT ${BODY_COLUMNS}, r.agent_record_id AS id FROM body b ${WITH_BASE}
     JOIN record r ON r.scenario = b.scenario AND r.sequence = b.sequence WHERE b.age = ?`,
  )
  const rewrite = db.prepare('UPDATE body SET payload = ?, size = ?, checksum = ?, sealed = ? WHERE age = ?')
  const detach = db.prepare('DELETE FROM body_base WHERE age = ?')
  return (age) => {
    const columns = read.first(age)
    const original = columns === undefined ? null : readWholeBody(seal, columns)
    detach.run(age)
    if (columns === undefined || original === null) return { originalBytes: 0, addedBytes: 0 }
    const compressed = compress(original, null, 0, LEVEL)
    const isSmaller = compressed !== null && compressed.byteLength < original.byteLength
    const body = sealBody(seal, columns.body_scenario ?? 0, columns.id, { payload: isSmaller ? compressed : original, original })
    rewrite.run(body.payload, isSmaller ? original.byteLength : null, body.checksum, body.sealed, age)
    return { originalBytes: original.byteLength, addedBytes: body.payload.byteLength - (columns.payload?.byteLength ?? 0) }
  }
}
