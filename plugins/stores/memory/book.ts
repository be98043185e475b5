/** One scenario's records and commits: what is kept, and what may be added to it. */
import {
  alreadyConsumed,
  contentDigest,
  HOUSEKEEPING_ROWS_PER_TURN,
  PENDING_PAGE_BYTES_MAX,
  PENDING_RECORD_BYTES_MAX,
  recordConflict,
  rowOf,
  stepConflict,
} from '../../../src/contract/index.ts'
import type {
  Commit,
  Expired,
  ExpiryPage,
  Losses,
  NewRecord,
  PendingPage,
  PendingRecord,
  RecordRow,
  ScenarioSettings,
  StoredRecord,
} from '../../../src/contract/index.ts'
import { CommitChain } from './chain.ts'

export interface Kept {
  readonly row: RecordRow
  /** Null once it was evicted; the digest then says what it was. */
  payload: Uint8Array | null
  digest: string | null
}

export class Book {
  readonly records: Kept[] = []
  readonly byId = new Map<string, Kept>()
  readonly chain = new CommitChain()
  readonly #consumed = new Map<string, Set<string>>()
  losses: Losses = { records: 0, bytes: 0 }
  expired: Losses = { records: 0, bytes: 0 }
  settings: ScenarioSettings = { training_mode: null }
  bodyBytes = 0
  isArchived = false

  /** All or none: nothing is kept before every record was looked at. Answers one per record, and which of them are new. */
  append(records: readonly NewRecord[]): { readonly kept: readonly Kept[]; readonly added: readonly Kept[] } {
    const added = new Map<string, Kept>()
    const kept = records.map((record) => {
      const known = this.byId.get(record.agent_record_id) ?? added.get(record.agent_record_id)
      if (known !== undefined) return sameOrConflict(known, record)
      const fresh = keep(record, this.records.length + added.size + 1)
      added.set(record.agent_record_id, fresh)
      return fresh
    })
    for (const [id, fresh] of added) {
      this.records.push(fresh)
      this.byId.set(id, fresh)
      this.bodyBytes += fresh.payload?.byteLength ?? 0
    }
    return { kept, added: [...added.values()] }
  }

  evict(kept: Kept): number {
    if (kept.payload === null) return 0
    const bytes = this.#remove(kept, kept.payload)
    this.losses = { records: this.losses.records + 1, bytes: this.losses.bytes + bytes }
    return bytes
  }

  expire({ madeBefore, below }: ExpiryPage): Expired {
    const end = Math.min(below - 1, this.records.length)
    const start = Math.max(0, end - HOUSEKEEPING_ROWS_PER_TURN)
    let [records, bytes] = [0, 0]
    for (const kept of this.records.slice(start, end)) {
      if (kept.payload === null || kept.row.created_at >= madeBefore) continue
      records += 1
      bytes += this.#remove(kept, kept.payload)
    }
    this.expired = { records: this.expired.records + records, bytes: this.expired.bytes + bytes }
    return { records, bytes, next: start === 0 ? null : start + 1 }
  }

  #remove(kept: Kept, payload: Uint8Array): number {
    kept.digest = contentDigest({ ...kept.row, payload })
    kept.payload = null
    this.bodyBytes -= payload.byteLength
    return payload.byteLength
  }

  commit(scenario: string, commit: Commit): void {
    if (commit.step !== this.chain.rows.length) throw stepConflict(scenario, commit.step)
    const component = commit.component ?? ''
    const consumed = this.#consumedBy(component)
    const again = commit.consumed_ids.find((id) => consumed.has(id))
    if (again !== undefined) throw alreadyConsumed(again)
    this.chain.push(structuredClone(commit))
    this.#consumed.set(component, consumed)
    for (const id of commit.consumed_ids) consumed.add(id)
  }

  pending({ component, types, after, limit }: PendingPage): readonly PendingRecord[] {
    const consumed = this.#consumedBy(component)
    const found: PendingRecord[] = []
    let bytes = 0
    for (let index = Math.max(after, 0); index < this.records.length && found.length < limit; index += 1) {
      const kept = this.records[index]
      if (kept === undefined || !types.includes(kept.row.request_type) || consumed.has(kept.row.agent_record_id)) continue
      const quoted = kept.row.references.flatMap((id) => this.byId.get(id) ?? [])
      const own = bodyBytesOf([kept, ...quoted])
      const isTooLarge = own > PENDING_RECORD_BYTES_MAX
      bytes += isTooLarge ? 0 : own
      if (found.length > 0 && bytes > PENDING_PAGE_BYTES_MAX) break
      const read = (each: Kept): StoredRecord => (isTooLarge ? { ...each.row, payload: null } : storedRecord(each))
      found.push({
        ...read(kept),
        quoted: quoted.map((each) => ({ ...read(each), consumed: consumed.has(each.row.agent_record_id) })),
        ...(isTooLarge && { too_large: true }),
      })
    }
    return found
  }

  #consumedBy(component: string): Set<string> {
    return this.#consumed.get(component) ?? new Set()
  }
}

/** The payload is a copy: it is the caller's to change. */
export function storedRecord({ row, payload }: Kept): StoredRecord {
  return { ...row, payload: payload === null ? null : new Uint8Array(payload) }
}

/** The bytes are copied: they are the caller's to reuse. */
function keep(record: NewRecord, sequence: number): Kept {
  const row = { ...rowOf(record, sequence), references: [...record.references] }
  return { row, payload: Buffer.concat(record.pieces ?? [record.payload]), digest: null }
}

function sameOrConflict(known: Kept, record: NewRecord): Kept {
  const digest = known.payload === null ? known.digest : contentDigest({ ...known.row, payload: known.payload })
  if (digest === contentDigest(record)) return known
  throw recordConflict(record.agent_record_id)
}

const bodyBytesOf = (records: readonly Kept[]): number => records.reduce((sum, { payload }) => sum + (payload?.byteLength ?? 0), 0)
