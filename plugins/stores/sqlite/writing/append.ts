/** Appends inside the writer's transaction: each call is all or nothing on its own, whatever its neighbours in the group do. */
import type { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { contentDigest, recordConflict, Refusal, type NewRecord, type RecordRow } from '../../../../src/contract/index.ts'
import { digestContext, type StoreSeal } from '../../common/seal.ts'
import { BODY_COLUMNS, readWholeBody, sealBody, WITH_BODY, type BodyColumns } from '../bodies/bodies.ts'
import type { Changes } from './changes.ts'
import type { Account, StoreLedger } from './ledger.ts'
import { makePacking } from '../bodies/pack.ts'
import { Query } from '../query.ts'
import { parseReferences, RECORD_COLUMNS, recordRow, type RecordColumns } from '../rows.ts'
import type { AppendAnswer, WireAppend, WireRecord } from '../messages/wire.ts'

export type Append = (call: WireAppend, bytes: SharedArrayBuffer) => AppendAnswer

interface StoredColumns extends RecordColumns, BodyColumns {
  /** Of a body that is gone. */
  readonly digest: Uint8Array | null
}

export interface AppendNeeds {
  readonly db: DatabaseSync
  readonly ledger: StoreLedger
  readonly changes: Changes
  readonly seal: StoreSeal
}

export function makeAppend({ db, ledger, changes, seal }: AppendNeeds): Append {
  const insertRecord = db.prepare(
    `INSERT INTO record (scenario, sequence, agent_record_id, request_type, created_at, "references", artifact_ref, score, age, summary)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (scenario, agent_record_id) DO NOTHING`,
  )
  const insertBody = db.prepare('INSERT INTO body (age, scenario, sequence, checksum, payload, size, sealed) VALUES (?, ?, ?, ?, ?, ?, ?)')
  const insertBase = db.prepare('INSERT INTO body_base (age, base, prefix) VALUES (?, ?, ?)')
  const findStored = new Query<StoredColumns>(
    db,
    `SELECT ${RECORD_COLUMNS}, r.digest, ${BODY_COLUMNS} FROM record r ${WITH_BODY} WHERE r.scenario = ? AND r.agent_record_id = ?`,
  )
  const packing = makePacking(db, ledger.bases, seal)
  const savepoint = db.prepare('SAVEPOINT append')
  const release = db.prepare('RELEASE append')
  const undo = db.prepare('ROLLBACK TO append')

  return ([scenario, offset, records], bytes) => {
    const account = ledger.open(scenario)
    const write = () => writeRecords(account, records, bytes, offset)
    return records.length > 1 ? allOrNone(write) : write()
  }

  /** A single record needs no savepoint: it is refused before anything of it is written. */
  function allOrNone<T>(write: () => T): T {
    savepoint.run()
    try {
      const answer = write()
      release.run()
      return answer
    } catch (error) {
      // Anything but a refusal of ours may have ended the transaction, and the savepoint with it.
      if (error instanceof Refusal) {
        undo.run()
        release.run()
        ledger.bases.forget()
      }
      throw error
    }
  }

  /** The account changes last, so that a refusal half-way leaves it alone. */
  function writeRecords(account: Account, records: readonly WireRecord[], bytes: SharedArrayBuffer, offset: number): AppendAnswer {
    const first = account.head + 1
    const answers: (number | RecordRow)[] = []
    let sequence = first
    let written = 0
    let position = offset
    for (const record of records) {
      const payload = new Uint8Array(bytes, position, record[6])
      position += payload.byteLength
      const storedBytes = insert(account.key, sequence, record, payload)
      if (storedBytes !== null) {
        answers.push(sequence)
        sequence += 1
        written += storedBytes
      } else {
        answers.push(storedRow(account.key, newRecord(record, payload)))
      }
    }
    if (sequence > first) ledger.change(account, sequence - 1, written)
    const areNew = sequence - first === records.length
    for (const [index, [, type]] of records.entries()) if (typeof answers[index] === 'number') changes.appended(account.name, type)
    return [account.step, areNew ? first : answers]
  }

  /** Answers how many bytes the body takes, or null for an id that is there already. */
  function insert(key: number, sequence: number, record: WireRecord, payload: Uint8Array): number | null {
    const [id, type, createdAt, references, artifactRef, score, , summary] = record
    const age = ledger.nextAge()
    const written = insertRecord.run(key, sequence, id, type, createdAt, references, artifactRef, score, age, summary)
    if (written.changes === 0) return null
    const packed = packing.atOnce(age, key, payload)
    const body = sealBody(seal, key, id, { payload: packed.payload, original: payload })
    insertBody.run(age, key, sequence, body.checksum, body.payload, packed.size, body.sealed)
    if (packed.base !== null) insertBase.run(age, packed.base, packed.prefix)
    return body.payload.byteLength
  }

  /** An id met again: the row it has when it says the same, otherwise a conflict. */
  function storedRow(key: number, record: NewRecord): RecordRow {
    const stored = findStored.first(key, record.agent_record_id)
    if (stored !== undefined && isSame(seal, key, stored, record)) return recordRow(stored)
    throw recordConflict(record.agent_record_id)
  }
}

function isSame(seal: StoreSeal, key: number, stored: StoredColumns, record: NewRecord): boolean {
  if (stored.payload === null)
    return stored.digest !== null && seal.openDigest(stored.digest, digestContext(key, record.agent_record_id)) === contentDigest(record)
  const row = recordRow(stored)
  const payload = readWholeBody(seal, stored)
  // What is damaged equals nothing.
  if (payload === null) return false
  return isSent(row, payload, record) || contentDigest({ ...row, payload }) === contentDigest(record)
}

/** A retry usually sends the very same bytes: then nothing need be read to know it. */
function isSent(row: RecordRow, payload: Uint8Array, record: NewRecord): boolean {
  const isSameRow = row.request_type === record.request_type && row.artifact_ref === record.artifact_ref
  return isSameRow && Buffer.compare(payload, record.payload) === 0 && isDeepStrictEqual(row.references, record.references)
}

function newRecord(record: WireRecord, payload: Uint8Array): NewRecord {
  const [agent_record_id, request_type, created_at, references, artifact_ref, score] = record
  return { agent_record_id, request_type, created_at, references: parseReferences(references), artifact_ref, score, payload }
}
