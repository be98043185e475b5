/** One scenario's records and commits: what is kept, and what may be added to it. */
import { hash } from 'node:crypto'
import { conflict, contentDigest, type Commit, type Losses, type NewRecord, type RecordRow } from '../../../src/contract/index.ts'

export interface Kept {
  readonly row: RecordRow
  /** Null once capacity took it; the digest then says what it was. */
  payload: Uint8Array | null
  digest: string | null
}

export class Book {
  readonly records: Kept[] = []
  readonly byId = new Map<string, Kept>()
  readonly commits = new Map<number, Commit>()
  losses: Losses = { records: 0, bytes: 0 }
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

  /** Lets go of a body and answers how many bytes that freed. */
  evict(kept: Kept): number {
    if (kept.payload === null) return 0
    const bytes = kept.payload.byteLength
    kept.digest = digestOf(kept.row, kept.payload)
    kept.payload = null
    this.bodyBytes -= bytes
    this.losses = { records: this.losses.records + 1, bytes: this.losses.bytes + bytes }
    return bytes
  }

  commit(scenario: string, commit: Commit): void {
    if (this.commits.has(commit.step)) throw stepConflict(scenario, commit.step)
    this.commits.set(commit.step, structuredClone(commit))
  }
}

/** The bytes are copied: they are the caller's to reuse. */
function keep(record: NewRecord, sequence: number): Kept {
  const { agent_record_id, request_type, created_at, references, artifact_ref, score } = record
  const row = { sequence, agent_record_id, request_type, created_at, references: [...references], artifact_ref, score }
  return { row, payload: new Uint8Array(record.payload), digest: null }
}

function sameOrConflict(known: Kept, record: NewRecord): Kept {
  const digest = known.payload === null ? known.digest : digestOf(known.row, known.payload)
  if (digest === digestOf(record, record.payload)) return known
  throw conflict('record_conflict', `record "${record.agent_record_id}" is stored with other content; send it as it was, or under a new id`)
}

/** The contract's digest; for a payload it cannot walk, one of the bytes as they are. */
function digestOf(row: Omit<RecordRow, 'sequence'>, payload: Uint8Array): string {
  try {
    return contentDigest({ ...row, payload })
  } catch {
    const { agent_record_id, request_type, references, artifact_ref } = row
    return hash('sha256', JSON.stringify([agent_record_id, request_type, references, artifact_ref, hash('sha256', payload)]))
  }
}

const stepConflict = (scenario: string, step: number) =>
  conflict('step_conflict', `scenario "${scenario}" has a step ${step} already; read its newest step and commit the one after it`)
