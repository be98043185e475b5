/** Tokens and the audit: what changes them within a transaction, and reading them. */
import {
  tokenConflict,
  tokenWithout,
  type AuditEntry,
  type AuditPage,
  type AuditRow,
  type StoredToken,
  type TokenChange,
} from '../../../src/contract/index.ts'
import type { Database } from './connections.ts'
import type { PgClient } from './library.ts'

/** Of this store, among all advisory locks of the database. */
const AUDIT_LOCK = 0x73_76_63_04

/** Answers how often tokens changed. A change that was made without our knowing is there with its entry. */
export async function changeToken(client: PgClient, change: TokenChange, entry: AuditEntry, isAgain: boolean): Promise<number> {
  const { name, before, after } = change
  const changes = await countChange(client)
  if (isAgain && (await isNoted(client, entry.id))) return changes
  const { rows: found } = await client.query<{ digest: string }>({ text: 'SELECT digest FROM token WHERE name = $1', values: [name] })
  if ((found[0]?.digest ?? null) !== before) throw tokenConflict(name)
  if (after === null) await client.query({ text: 'DELETE FROM token WHERE name = $1', values: [name] })
  else
    await client.query({
      text: `INSERT INTO token (name, digest, value) VALUES ($1, $2, $3)
             ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, value = excluded.value`,
      values: [name, after.digest, JSON.stringify(after)],
    })
  await addAudit(client, entry)
  return changes
}

/** Answers how often tokens changed. One change at a time: the others wait for the row. */
async function countChange(client: PgClient): Promise<number> {
  const { rows } = await client.query<{ changes: number }>({
    text: 'UPDATE deployment SET token_changes = token_changes + 1 RETURNING token_changes AS changes',
  })
  return rows[0]?.changes ?? 0
}

/** With the archiving of the scenario. Answers how often tokens changed; 0 where none was for it. */
export async function endTokensOf(client: PgClient, scenario: string): Promise<number> {
  if ((await tokensOf(client, scenario)).length === 0) return 0
  const changes = await countChange(client)
  for (const token of await tokensOf(client, scenario)) {
    const left = tokenWithout(token, scenario)
    if (left === null) await client.query({ text: 'DELETE FROM token WHERE name = $1', values: [token.name] })
    else await client.query({ text: 'UPDATE token SET value = $2 WHERE name = $1', values: [token.name, JSON.stringify(left)] })
  }
  return changes
}

async function tokensOf(client: PgClient, scenario: string): Promise<readonly StoredToken[]> {
  const { rows } = await client.query<{ value: StoredToken }>({ text: 'SELECT value FROM token' })
  return rows.flatMap(({ value }) => (value.scenarios?.includes(scenario) === true ? [value] : []))
}

/** One at a time: a reader with a cursor skips no row, and no number is left out. */
export async function addAudit(client: PgClient, entry: AuditEntry): Promise<void> {
  await client.query({ text: 'SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))', values: [AUDIT_LOCK] })
  await client.query({
    text: `INSERT INTO audit (sequence, id, entry) SELECT coalesce(max(sequence), 0) + 1, $1, $2::json FROM audit
           ON CONFLICT (id) DO NOTHING`,
    values: [entry.id, JSON.stringify(entry)],
  })
}

async function isNoted(client: PgClient, id: string): Promise<boolean> {
  return (await client.query({ text: 'SELECT 1 FROM audit WHERE id = $1', values: [id] })).rows.length > 0
}

export async function readTokens(connections: Database): Promise<readonly StoredToken[]> {
  const rows = await connections.rows<{ value: StoredToken }>({ name: 'tokens', text: 'SELECT value FROM token ORDER BY name' })
  return rows.map(({ value }) => value)
}

export async function readAudit(connections: Database, page: AuditPage): Promise<readonly AuditRow[]> {
  const [side, order, from] = 'after' in page ? ['>', 'ASC', page.after] : ['<', 'DESC', page.before]
  const rows = await connections.rows<{ sequence: number; entry: AuditEntry }>({
    text: `SELECT sequence, entry FROM audit WHERE sequence ${side} $1::bigint ORDER BY sequence ${order} LIMIT $2`,
    values: [from, page.limit],
  })
  return rows.map(({ sequence, entry }) => ({ sequence, ...entry }))
}
