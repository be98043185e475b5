/** The tokens of the deployment, and the audit of what was done. */
import {
  tokenConflict,
  tokenWithout,
  type AuditEntry,
  type AuditPage,
  type AuditRow,
  type StoredToken,
  type TokenChange,
} from '../../../src/contract/index.ts'

export class DeploymentBook {
  readonly #tokens = new Map<string, StoredToken>()
  readonly #audit: AuditRow[] = []
  readonly #ids = new Set<string>()

  tokens(): readonly StoredToken[] {
    return [...this.#tokens.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  changeToken({ name, before, after }: TokenChange, entry: AuditEntry): void {
    if ((this.#tokens.get(name)?.digest ?? null) !== before) throw tokenConflict(name)
    if (after === null) this.#tokens.delete(name)
    else this.#tokens.set(name, structuredClone(after))
    this.addAudit(entry)
  }

  /** Whether there was one. */
  endTokensOf(scenario: string): boolean {
    const ended = [...this.#tokens.values()].filter(({ scenarios }) => scenarios?.includes(scenario))
    for (const token of ended) {
      const left = tokenWithout(token, scenario)
      if (left === null) this.#tokens.delete(token.name)
      else this.#tokens.set(token.name, left)
    }
    return ended.length > 0
  }

  addAudit(entry: AuditEntry): void {
    if (this.#ids.has(entry.id)) return
    this.#ids.add(entry.id)
    this.#audit.push({ sequence: this.#audit.length + 1, ...structuredClone(entry) })
  }

  audit(page: AuditPage): readonly AuditRow[] {
    if ('after' in page) return this.#audit.slice(Math.max(page.after, 0), Math.max(page.after, 0) + page.limit)
    const end = Math.min(Math.max(page.before - 1, 0), this.#audit.length)
    return this.#audit.slice(Math.max(end - page.limit, 0), end).toReversed()
  }
}
