/** Tokens and the audit inside the writer's transaction, and reading them. */
import type { DatabaseSync } from 'node:sqlite'
import {
  tokenConflict,
  tokenWithout,
  type AuditEntry,
  type AuditPage,
  type AuditRow,
  type StoredToken,
  type TokenChange,
} from '../../../src/contract/index.ts'
import type { Changes } from './writing/changes.ts'
import { Query } from './query.ts'

export function makeDeployment(db: DatabaseSync, changes: Changes) {
  const find = new Query<{ digest: string }>(db, 'SELECT digest FROM token WHERE name = ?')
  const put = db.prepare(
    `INSERT INTO token (name, digest, value) VALUES (?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, value = excluded.value`,
  )
  const remove = db.prepare('DELETE FROM token WHERE name = ?')
  const add = db.prepare(
    'INSERT INTO audit (sequence, id, entry) SELECT coalesce(max(sequence), 0) + 1, ?, ? FROM audit WHERE true ON CONFLICT (id) DO NOTHING',
  )
  const addAudit = (entry: AuditEntry): null => {
    add.run(entry.id, JSON.stringify(entry))
    return null
  }

  const all = new Query<{ value: string }>(db, 'SELECT value FROM token')

  return {
    addAudit,
    endTokensOf(scenario: string): void {
      for (const { value } of all.all()) {
        const token: StoredToken = JSON.parse(value)
        const left = tokenWithout(token, scenario)
        if (left === token) continue
        if (left === null) remove.run(token.name)
        else put.run(token.name, token.digest, JSON.stringify(left))
        changes.add({ kind: 'tokens' })
      }
    },
    changeToken({ name, before, after }: TokenChange, entry: AuditEntry): null {
      if ((find.first(name)?.digest ?? null) !== before) throw tokenConflict(name)
      if (after === null) remove.run(name)
      else put.run(name, after.digest, JSON.stringify(after))
      changes.add({ kind: 'tokens' })
      return addAudit(entry)
    },
  }
}

export function makeDeploymentQueries(db: DatabaseSync) {
  const selectTokens = new Query<{ value: string }>(db, 'SELECT value FROM token ORDER BY name')
  const selectAfter = new Query<AuditColumns>(db, 'SELECT sequence, entry FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?')
  const selectBefore = new Query<AuditColumns>(db, 'SELECT sequence, entry FROM audit WHERE sequence < ? ORDER BY sequence DESC LIMIT ?')
  return {
    tokens: (): readonly StoredToken[] => selectTokens.all().map(({ value }): StoredToken => JSON.parse(value)),
    audit: (page: AuditPage): readonly AuditRow[] =>
      ('after' in page ? selectAfter.all(page.after, page.limit) : selectBefore.all(page.before, page.limit)).map(auditRow),
  }
}

interface AuditColumns {
  readonly sequence: number
  readonly entry: string
}

function auditRow({ sequence, entry }: AuditColumns): AuditRow {
  const known: AuditEntry = JSON.parse(entry)
  return { sequence, ...known }
}
