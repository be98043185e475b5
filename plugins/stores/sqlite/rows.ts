/** Rows of the database as nouns of the contract. */
import type { Commit, ExchangeSummary, JsonObject, RecordRow, Release } from '../../../src/contract/index.ts'

export const RECORD_COLUMNS =
  'r.sequence, r.agent_record_id, r.request_type, r.created_at, r."references", r.artifact_ref, r.score, r.summary'

export type RecordColumns = Omit<RecordRow, 'references' | 'summary'> & {
  readonly references: string | null
  readonly summary: string | null
}

export function recordRow(columns: RecordColumns): RecordRow {
  const { sequence, agent_record_id, request_type, created_at, artifact_ref, score } = columns
  const references = parseReferences(columns.references)
  const row = { sequence, agent_record_id, request_type, created_at, references, artifact_ref, score }
  return columns.summary === null ? row : { ...row, summary: parseSummary(columns.summary) }
}

function parseSummary(text: string): ExchangeSummary {
  const summary: ExchangeSummary = JSON.parse(text)
  return summary
}

export function parseReferences(text: string | null): readonly string[] {
  if (text === null) return []
  const references: readonly string[] = JSON.parse(text)
  return references
}

export const COMMIT_COLUMNS =
  'step, operation, recorded_at, release, pending, consumed_ids, metrics, state, outcome, rollback_target_release_id, component, totals'

export interface CommitColumns extends Pick<Commit, 'step' | 'operation' | 'recorded_at' | 'outcome'> {
  readonly release: string
  readonly pending: number
  readonly consumed_ids: string
  readonly metrics: string
  readonly state: string
  readonly rollback_target_release_id: string | null
  readonly component: string | null
  readonly totals: string | null
}

export function commitRow(columns: CommitColumns): Commit {
  const { step, operation, recorded_at, outcome, rollback_target_release_id, component } = columns
  const release: Release | null = JSON.parse(columns.release)
  const consumed_ids: readonly string[] = JSON.parse(columns.consumed_ids)
  const [metrics, state] = [parseObject(columns.metrics), parseObject(columns.state)]
  return {
    step,
    operation,
    recorded_at,
    release,
    pending: columns.pending === 1,
    outcome,
    consumed_ids,
    metrics,
    ...(rollback_target_release_id === null ? {} : { rollback_target_release_id }),
    ...(component === null ? {} : { component }),
    state,
    ...(columns.totals !== null && { totals: parseObject(columns.totals) }),
  }
}

function parseObject(text: string): JsonObject {
  const object: JsonObject = JSON.parse(text)
  return object
}
