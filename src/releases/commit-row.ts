/** A commit as the commits route shows it, without the method's state. */
import type { Commit, JsonObject, Operation } from '../contract/index.ts'

export interface CommitRow {
  readonly step: number
  readonly operation: Operation
  /** False only when the row itself says that its operation could not be confirmed. */
  readonly operation_verified: boolean
  readonly recorded_at: number
  /** The release this step published or holds. */
  readonly artifact_ref: string | null
  readonly pending: boolean
  readonly consumed_ids: readonly string[]
  readonly metrics: JsonObject
}

export function commitRow(commit: Commit): CommitRow {
  return {
    step: commit.step,
    operation: commit.operation,
    operation_verified: commit.state['operation_verified'] !== false,
    recorded_at: commit.recorded_at,
    artifact_ref: commit.release?.release_id ?? null,
    pending: commit.pending,
    consumed_ids: commit.consumed_ids.toSorted(),
    metrics: commit.metrics,
  }
}
