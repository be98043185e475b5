/** Copies what belongs to no scenario: the audit and the tokens. What is there already is left as it is. */
import type { AuditEntry, DeploymentStore, StoredToken } from '../../contract/index.ts'

const ROWS_PER_PAGE = 200

export interface CopiedDeployment {
  readonly tokens: number
  /** Tokens whose name the target gave to another one. */
  readonly tokens_differ: readonly string[]
  readonly audit: number
}

/** The audit first, in its order: it says how the tokens came to be. Entries have ids, so a copy that was stopped adds none twice. */
export async function copyDeployment(from: DeploymentStore, to: DeploymentStore, now: number): Promise<CopiedDeployment> {
  let audit = 0
  for (let after = 0; ;) {
    const rows = await from.audit({ after, limit: ROWS_PER_PAGE })
    const last = rows.at(-1)
    if (last === undefined) break
    for (const { sequence: _, ...entry } of rows) await to.addAudit(entry)
    audit += rows.length
    after = last.sequence
  }
  return { audit, ...(await copyTokens(from, to, now)) }
}

async function copyTokens(from: DeploymentStore, to: DeploymentStore, now: number): Promise<Omit<CopiedDeployment, 'audit'>> {
  const tokens = await from.tokens()
  const there = new Map((await to.tokens()).map((token) => [token.name, token.digest]))
  for (const token of tokens)
    if (!there.has(token.name)) await to.changeToken({ name: token.name, before: null, after: token }, entryOf(token, now))
  const differing = tokens.filter(({ name, digest }) => (there.get(name) ?? digest) !== digest)
  return { tokens: tokens.length - differing.length, tokens_differ: differing.map(({ name }) => name) }
}

function entryOf({ digest, ...after }: StoredToken, at: number): AuditEntry {
  const about = { by: null, role: null, from: null, action: 'copyToken', scenario: null, target: after.name, before: null }
  return { id: `copy ${digest}`, at, ...about, after }
}
