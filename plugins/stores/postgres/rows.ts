/** Rows of the database as nouns of the contract. */
import type { Commit, ExchangeSummary, JsonObject, RecordRow, Release, RequestType } from '../../../src/contract/index.ts'

export const RECORD_COLUMNS = 'r.sequence, r.id, r.type, r.created_at, r.refs, r.artifact_ref, r.score, r.summary'

export interface RecordTuple {
  readonly sequence: number
  readonly id: Buffer
  readonly type: RequestType
  readonly created_at: number
  readonly refs: readonly string[] | null
  readonly artifact_ref: Buffer | null
  readonly score: number | null
  readonly summary: ExchangeSummary | null
}

export function recordRow({ sequence, id, type, created_at, refs, artifact_ref, score, summary }: RecordTuple): RecordRow {
  const row = {
    sequence,
    agent_record_id: id.toString(),
    request_type: type,
    created_at,
    references: refs ?? [],
    artifact_ref: artifact_ref?.toString() ?? null,
    score,
  }
  return summary === null ? row : { ...row, summary }
}

export const COMMIT_COLUMNS =
  'c.step, c.operation, c.recorded_at, c.release, c.pending, c.outcome, c.consumed_ids, c.metrics, c.state, c.target, c.component, c.totals'

export interface CommitTuple extends Pick<Commit, 'step' | 'operation' | 'recorded_at' | 'outcome' | 'pending'> {
  readonly release: Release | null
  readonly consumed_ids: readonly string[]
  readonly metrics: JsonObject
  readonly state: JsonObject
  readonly target: Buffer | null
  readonly component: Buffer | null
  readonly totals: JsonObject | null
}

export function commitRow(columns: CommitTuple): Commit {
  const { step, operation, recorded_at, release, pending, outcome, consumed_ids, metrics, state, target, component, totals } = columns
  return {
    step,
    operation,
    recorded_at,
    release,
    pending,
    outcome,
    consumed_ids,
    metrics,
    ...(target !== null && { rollback_target_release_id: target.toString() }),
    ...(component !== null && { component: component.toString() }),
    state,
    ...(totals !== null && { totals }),
  }
}

/** Text as the bytes that the database keeps: it may hold a NUL, which the database's own text may not. */
export const bytesOf = (text: string): Buffer => Buffer.from(text)
