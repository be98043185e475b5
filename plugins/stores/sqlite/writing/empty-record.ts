/** Empties the record of somebody who is forgotten, within a transaction: its receipt stays, with its type and time, and nothing that was said. */
import type { DatabaseSync } from 'node:sqlite'
import type { StoreSeal } from '../../common/seal.ts'
import { Query } from '../query.ts'
import { makeDetach } from './remove.ts'

export interface Emptied {
  /** Of the body; null where it was gone before. */
  readonly age: number | null
  /** By how much the bodies of the scenario take less room; negative where others were written anew. */
  readonly freedBytes: number
  /** How many bodies of others were written anew, since they referred to it. */
  readonly rewritten: number
  /** Read and written anew. */
  readonly workedBytes: number
}

/** Null where there is no such record. */
export function makeEmptyRecord(db: DatabaseSync, seal: StoreSeal): (key: number, sequence: number) => Emptied | null {
  const find = new Query<{ id: string; type: string; age: number | null; bytes: number }>(
    db,
    `SELECT r.agent_record_id AS id, r.request_type AS type, r.age, coalesce(length(b.payload), 0) AS bytes
     FROM record r LEFT JOIN body b ON b.age = r.age WHERE r.scenario = ? AND r.sequence = ?`,
  )
  const findReferring = new Query<{ age: number }>(db, 'SELECT age FROM body_base WHERE base = ?')
  const removals = ['DELETE FROM body_base WHERE age = ?', 'DELETE FROM body WHERE age = ?'].map((sql) => db.prepare(sql))
  const empty = db.prepare(
    // The receipt stays, so that the order and the steps that used it stay whole. What was said equals nothing that is sent again.
    `UPDATE record SET digest = randomblob(32), age = NULL, summary = NULL, score = NULL, "references" = NULL WHERE scenario = ? AND sequence = ?`,
  )
  const unsay = db.prepare(
    `UPDATE commit_row SET metrics = json_set(metrics, '$.training_request.text', '', '$.training_request.session', '')
     WHERE scenario = ?1 AND step IN (SELECT step FROM consumed WHERE scenario = ?1 AND agent_record_id = ?2)
       AND json_extract(metrics, '$.training_request.id') = ?2`,
  )
  const detach = makeDetach(db, seal)

  return (key, sequence) => {
    const found = find.first(key, sequence)
    if (found === undefined) return null
    const { id, type, age, bytes } = found
    const referring = age === null ? [] : findReferring.all(age)
    let [addedBytes, workedBytes] = [0, bytes]
    for (const { age: other } of referring) {
      const { originalBytes, addedBytes: added } = detach(other)
      addedBytes += added
      workedBytes += originalBytes
    }
    if (age !== null) for (const removal of removals) removal.run(age)
    empty.run(key, sequence)
    if (type === 'train') unsay.run(key, id)
    return { age, freedBytes: bytes - addedBytes, rewritten: referring.length, workedBytes }
  }
}
