/** Commits inside the writer's transaction: the row and what it consumed, and with step 0 the scenario itself. */
import type { DatabaseSync } from 'node:sqlite'
import { conflict, type Commit } from '../../../src/contract/index.ts'
import type { Ledger } from './ledger.ts'
import { COMMIT_COLUMNS } from './rows.ts'

export function makeCommit(db: DatabaseSync, ledger: Ledger): (scenario: string, commit: Commit) => null {
  const create = db.prepare('INSERT INTO scenario (name) VALUES (?) ON CONFLICT (name) DO NOTHING')
  const insertRow = db.prepare(
    `INSERT INTO commit_row (scenario, ${COMMIT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (scenario, step) DO NOTHING`,
  )
  const insertConsumed = db.prepare('INSERT INTO consumed (scenario, agent_record_id, step) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')

  return (scenario, commit) => {
    if (commit.step === 0 && create.run(scenario).changes === 0) throw stepConflict(scenario, 0)
    const { key } = ledger.open(scenario)
    if (insertRow.run(key, ...columnsOf(commit)).changes === 0) throw stepConflict(scenario, commit.step)
    for (const id of commit.consumed_ids) insertConsumed.run(key, id, commit.step)
    return null
  }
}

const stepConflict = (scenario: string, step: number) =>
  conflict('step_conflict', `scenario "${scenario}" has a step ${step} already; read its newest step and commit the one after it`)

function columnsOf(commit: Commit): (string | number | null)[] {
  return [
    commit.step,
    commit.operation,
    commit.recorded_at,
    JSON.stringify(commit.release),
    commit.pending ? 1 : 0,
    JSON.stringify(commit.consumed_ids),
    JSON.stringify(commit.metrics),
    JSON.stringify(commit.state),
    commit.outcome,
    commit.rollback_target_release_id ?? null,
    commit.component ?? null,
  ]
}
