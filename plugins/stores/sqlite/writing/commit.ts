/** Commits inside the writer's transaction: the row and what it consumed, and with step 0 the scenario itself. */
import type { DatabaseSync } from 'node:sqlite'
import { alreadyConsumed, stepConflict, type Commit, type Fence, type JsonObject } from '../../../../src/contract/index.ts'
import type { Changes } from './changes.ts'
import type { Account, StoreLedger } from './ledger.ts'
import type { StoreLeases } from './leases.ts'
import { Query } from '../query.ts'
import { COMMIT_COLUMNS } from '../rows.ts'

export interface CommitNeeds {
  readonly db: DatabaseSync
  readonly ledger: StoreLedger
  readonly leases: StoreLeases
  readonly changes: Changes
}

export function makeCommit({ db, ledger, leases, changes }: CommitNeeds): (scenario: string, commit: Commit, fence?: Fence) => null {
  const create = db.prepare('INSERT INTO scenario (name) VALUES (?) ON CONFLICT (name) DO NOTHING')
  const findConsumed = new Query(db, 'SELECT 1 FROM consumed WHERE scenario = ? AND agent_record_id = ? AND component = ?')
  const insertRow = db.prepare(`INSERT INTO commit_row (scenario, ${COMMIT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const insertConsumed = db.prepare(
    'INSERT INTO consumed (scenario, agent_record_id, component, step) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )

  return (scenario, commit, fence) => {
    if (fence !== undefined) leases.check(fence)
    if (commit.step === 0 && create.run(scenario).changes === 0) throw stepConflict(scenario, 0)
    const account = ledger.open(scenario)
    const { key } = account
    const component = commit.component ?? ''
    refuse(account, component, commit)
    insertRow.run(key, ...columnsOf(commit))
    // An id that the row repeats counts once.
    for (const id of commit.consumed_ids) insertConsumed.run(key, id, component, commit.step)
    account.step = commit.step
    changes.add(commit.step === 0 ? { kind: 'created', scenario } : { kind: 'landed', scenario, step: commit.step })
    return null
  }

  /** Before anything is written, because what a refused call wrote would be kept with its neighbours' rows. */
  function refuse({ key, name, step: newest }: Account, component: string, { step, consumed_ids }: Commit): void {
    if (step !== newest + 1) throw stepConflict(name, step)
    const again = consumed_ids.find((id) => findConsumed.first(key, id, component) !== undefined)
    if (again !== undefined) throw alreadyConsumed(again)
  }
}

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
    commit.totals === undefined ? null : JSON.stringify(commit.totals),
  ]
}

export function makeKeepTotals(db: DatabaseSync, ledger: StoreLedger): (scenario: string, totals: ReadonlyMap<number, JsonObject>) => null {
  const update = db.prepare('UPDATE commit_row SET totals = ? WHERE scenario = ? AND step = ?')
  return (scenario, totals) => {
    const { key } = ledger.open(scenario)
    for (const [step, each] of totals) update.run(JSON.stringify(each), key, step)
    return null
  }
}
