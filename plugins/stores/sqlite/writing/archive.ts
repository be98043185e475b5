/**
 * The writer's part in setting a scenario aside. Its states:
 *
 * - live: `name` set, `archive` null.
 * - closing: `name` and `archive` set. The export is being written beside; nothing new comes in. A crash here leaves the scenario live: the
 *   next open removes the export and clears `archive`.
 * - archived: `name` null. The export is whole and the name is free. The rows go in turns, which the next open resumes.
 * - cleared: archived, and no row of it is left but its own, which keeps its losses and says where the export lies.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { MessagePort } from 'node:worker_threads'
import { HOUSEKEEPING_ROWS_PER_TURN } from '../../../../src/contract/index.ts'
import { UNFINISHED_SUFFIX } from '../export.ts'
import type { Changes } from './changes.ts'
import type { StoreLedger } from './ledger.ts'
import { Query } from '../query.ts'
import { makeDeployment } from '../deployment.ts'

export type RecordArchive = ReturnType<typeof makeArchive>

export function makeArchive(db: DatabaseSync, ledger: StoreLedger, changes: Changes) {
  const close = db.prepare('UPDATE scenario SET archive = ? WHERE key = ?')
  const finish = new Query<{ name: string }>(
    db,
    'UPDATE scenario SET archived_name = name, name = NULL WHERE key = ? AND archive IS NOT NULL RETURNING archived_name AS name',
  )
  const forgetSettings = db.prepare('DELETE FROM setting WHERE scenario = ?')
  const reopen = db.prepare('UPDATE scenario SET archive = NULL WHERE key = ? AND name IS NOT NULL')
  const findClosing = new Query<{ key: number; archive: string }>(
    db,
    'SELECT key, archive FROM scenario WHERE name IS NOT NULL AND archive IS NOT NULL',
  )
  const findToClear = new Query<{ key: number }>(db, 'SELECT key FROM scenario WHERE name IS NULL AND cleared = 0 LIMIT 1')
  const clearTurn = makeClearTurn(db)
  const deployment = makeDeployment(db, changes)
  const settle = (): null => {
    ledger.save()
    ledger.forget()
    return null
  }

  /** Who writes the export of each scenario that is closing. */
  const archiving = new Map<number, MessagePort>()
  /** An earlier process may have left rows. The writer looks after every group, so it asks the database only where there may be some. */
  let mayHaveRowsToClear = true

  return {
    /** Closes the scenario and answers its key, for the export. */
    begin(scenario: string, archive: string, by: MessagePort): number {
      const { key } = ledger.open(scenario)
      archiving.set(key, by)
      close.run(archive, key)
      settle()
      return key
    },
    finish(key: number): null {
      mayHaveRowsToClear = true
      const archived = finish.first(key)
      archiving.delete(key)
      forgetSettings.run(key)
      if (archived !== undefined) {
        deployment.endTokensOf(archived.name)
        changes.add({ kind: 'archived', scenario: archived.name })
      }
      return settle()
    },
    abandon(key: number): null {
      reopen.run(key)
      archiving.delete(key)
      return settle()
    },
    isArchiving: (by: MessagePort): boolean => [...archiving.values()].includes(by),
    /** Takes back what was not finished: all of it at the start, and later what a thread that is gone had begun. */
    recover(directory: string, by?: MessagePort): void {
      for (const { key, archive } of findClosing.all()) {
        if (archiving.get(key) !== by) continue
        archiving.delete(key)
        rmSync(join(directory, archive + UNFINISHED_SUFFIX), { force: true })
        rmSync(join(directory, archive), { force: true })
        reopen.run(key)
      }
      settle()
    },
    /** Outside of transactions: what one takes back has not changed the answer. */
    hasRowsToClear(): boolean {
      mayHaveRowsToClear &&= findToClear.first() !== undefined
      return mayHaveRowsToClear
    },
    clear(): void {
      const found = findToClear.first()
      if (found !== undefined) clearTurn(found.key)
    },
  }
}

/** Removes a few rows of each table, the newest records first since their bodies refer to older ones; a turn that finds none marks the scenario cleared. */
function makeClearTurn(db: DatabaseSync): (key: number) => void {
  const few = HOUSEKEEPING_ROWS_PER_TURN
  const removals = [
    `DELETE FROM body WHERE age IN (SELECT age FROM record WHERE scenario = ?1 ORDER BY sequence DESC LIMIT ${few})`,
    `DELETE FROM record WHERE scenario = ?1 AND sequence IN (SELECT sequence FROM record WHERE scenario = ?1 ORDER BY sequence DESC LIMIT ${few})`,
    `DELETE FROM consumed WHERE scenario = ?1 AND (agent_record_id, component) IN
       (SELECT agent_record_id, component FROM consumed WHERE scenario = ?1 LIMIT ${few})`,
    `DELETE FROM commit_row WHERE scenario = ?1 AND step IN (SELECT step FROM commit_row WHERE scenario = ?1 LIMIT ${few})`,
  ].map((sql) => db.prepare(sql))
  const markCleared = db.prepare('UPDATE scenario SET cleared = 1, head = 0, body_bytes = 0 WHERE key = ?')

  return (key) => {
    let removed = 0
    for (const removal of removals) removed += Number(removal.run(key).changes)
    if (removed === 0) markCleared.run(key)
  }
}
