/** Commits: the row, what it consumed and the scenario's counter in one transaction, and with step 0 the scenario itself. */
import { isDeepStrictEqual } from 'node:util'
import {
  alreadyConsumed,
  leaseLost,
  noScenario,
  stepConflict,
  type Commit,
  type Fence,
  type JsonObject,
  type ScenarioSettings,
} from '../../../src/contract/index.ts'
import type { PgClient, SqlValue } from './library.ts'
import { bytesOf, COMMIT_COLUMNS, commitRow, type CommitTuple } from './rows.ts'

/** Answers the scenario's key. One that landed without our knowing is there as it was given. */
export async function commitOnce(
  client: PgClient,
  scenario: string,
  commit: Commit,
  fence: Fence | undefined,
  isAgain: boolean,
): Promise<number> {
  if (!isAgain) return insertCommit(client, scenario, commit, fence)
  // Whoever locks a row waits for the standby with its commit: what a primary kept for itself is not taken for landed.
  await client.query({ text: 'SELECT 1 FROM scenario WHERE name = $1 FOR UPDATE', values: [bytesOf(scenario)] })
  const landed = await findLanded(client, scenario, commit)
  return landed ?? insertCommit(client, scenario, commit, fence)
}

async function insertCommit(client: PgClient, scenario: string, commit: Commit, fence: Fence | undefined): Promise<number> {
  if (fence !== undefined) await checkFence(client, fence)
  const key = commit.step === 0 ? await create(client, scenario) : await lockStep(client, scenario, commit.step)
  const component = bytesOf(commit.component ?? '')
  await refuseConsumed(client, key, component, commit.consumed_ids)
  const values = [key, ...columnsOf(commit)]
  await client.query({
    text: `INSERT INTO commit_row (${INSERTED}) VALUES (${values.map((_, index) => `$${index + 1}`).join(', ')})`,
    values,
  })
  if (commit.consumed_ids.length > 0)
    await client.query({
      text: `INSERT INTO consumed (scenario, id, component, step) SELECT $1, id, $2, $3 FROM unnest($4::bytea[]) id ON CONFLICT DO NOTHING`,
      values: [key, component, commit.step, commit.consumed_ids.map(bytesOf)],
    })
  await client.query({
    text: 'UPDATE scenario SET step = $2, changed = pg_current_xact_id() WHERE key = $1',
    values: [key, commit.step],
  })
  return key
}

/** Shared, so that the next taking of the lease waits for this transaction, and this one for a taking under way. */
export async function checkFence(client: PgClient, { name, token }: Fence): Promise<void> {
  const { rows } = await client.query<{ token: number }>({
    text: 'SELECT token FROM lease WHERE name = $1 FOR SHARE',
    values: [bytesOf(name)],
  })
  if (rows[0]?.token !== token) throw leaseLost(name)
}

async function create(client: PgClient, scenario: string): Promise<number> {
  const { rows } = await client.query<{ key: number }>({
    text: 'INSERT INTO scenario (name) VALUES ($1) ON CONFLICT (name) DO NOTHING RETURNING key',
    values: [bytesOf(scenario)],
  })
  const [created] = rows
  if (created === undefined) throw stepConflict(scenario, 0)
  return created.key
}

async function lockStep(client: PgClient, scenario: string, step: number): Promise<number> {
  const { key, step: newest } = await lockScenario(client, scenario)
  if (step !== newest + 1) throw stepConflict(scenario, step)
  return key
}

async function lockScenario(client: PgClient, scenario: string): Promise<{ readonly key: number; readonly step: number }> {
  const { rows } = await client.query<{ key: number; step: number }>({
    text: 'SELECT key, step FROM scenario WHERE name = $1 FOR UPDATE',
    values: [bytesOf(scenario)],
  })
  const [found] = rows
  if (found === undefined) throw noScenario(scenario)
  return found
}

async function refuseConsumed(client: PgClient, key: number, component: Buffer, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await client.query<{ id: Buffer }>({
    text: 'SELECT id FROM consumed WHERE scenario = $1 AND component = $2 AND id = ANY($3::bytea[])',
    values: [key, component, ids.map(bytesOf)],
  })
  const consumed = new Set(rows.map(({ id }) => id.toString()))
  const again = ids.find((id) => consumed.has(id))
  if (again !== undefined) throw alreadyConsumed(again)
}

async function findLanded(client: PgClient, scenario: string, commit: Commit): Promise<number | null> {
  const { rows } = await client.query<CommitTuple & { scenario: number }>({
    text: `SELECT c.scenario, ${COMMIT_COLUMNS} FROM commit_row c WHERE c.scenario = (SELECT key FROM scenario WHERE name = $1) AND c.step = $2`,
    values: [bytesOf(scenario), commit.step],
  })
  const [row] = rows
  // Compared as it is kept.
  const given: unknown = JSON.parse(JSON.stringify(commit))
  return row !== undefined && isDeepStrictEqual(JSON.parse(JSON.stringify(commitRow(row))), given) ? row.scenario : null
}

const INSERTED =
  'scenario, step, operation, recorded_at, release, release_id, pending, outcome, consumed_ids, metrics, state, target, component, totals'

function columnsOf(commit: Commit): SqlValue[] {
  const { release, rollback_target_release_id: target, component, totals } = commit
  return [
    commit.step,
    commit.operation,
    commit.recorded_at,
    release === null ? null : JSON.stringify(release),
    release === null ? null : bytesOf(release.release_id),
    commit.pending,
    commit.outcome,
    JSON.stringify(commit.consumed_ids),
    JSON.stringify(commit.metrics),
    JSON.stringify(commit.state),
    target === undefined ? null : bytesOf(target),
    component === undefined ? null : bytesOf(component),
    totals === undefined ? null : JSON.stringify(totals),
  ]
}

export async function keepTotals(client: PgClient, scenario: string, totals: ReadonlyMap<number, JsonObject>): Promise<void> {
  const { key } = await lockScenario(client, scenario)
  await client.query({
    text: `UPDATE commit_row c SET totals = given.totals::json FROM unnest($2::int[], $3::text[]) AS given (step, totals)
           WHERE c.scenario = $1 AND c.step = given.step`,
    values: [key, [...totals.keys()], [...totals.values()].map((each) => JSON.stringify(each))],
  })
}

/** Answers the scenario's key and how often its settings changed. */
export async function configure(client: PgClient, scenario: string, { training_mode }: Partial<ScenarioSettings>) {
  const { key } = await lockScenario(client, scenario)
  const { rows } = await client.query<{ settings_changes: number }>({
    text: `UPDATE scenario SET settings_changes = settings_changes + 1, changed = pg_current_xact_id(),
             training_mode = CASE WHEN $2 THEN $3 ELSE training_mode END WHERE key = $1 RETURNING settings_changes`,
    values: [key, training_mode !== undefined, training_mode ?? null],
  })
  return { key, settings: rows[0]?.settings_changes ?? 0 }
}

/** Its rows stay under its key; the name is free with the transaction. */
export async function archive(client: PgClient, scenario: string): Promise<number> {
  const { key } = await lockScenario(client, scenario)
  await client.query({
    text: `UPDATE scenario SET archived_name = name, name = NULL, training_mode = NULL, changed = pg_current_xact_id() WHERE key = $1`,
    values: [key],
  })
  return key
}

/** Whether that scenario was archived, perhaps by a call whose answer was lost. */
export async function isArchived(client: PgClient, key: number): Promise<boolean> {
  const { rows } = await client.query({ text: 'SELECT 1 FROM scenario WHERE key = $1 AND name IS NULL FOR UPDATE', values: [key] })
  return rows.length > 0
}
