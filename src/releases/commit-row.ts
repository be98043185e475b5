/** A commit as the commits route shows it, without the method's state. */
import type { Commit, CommitRow } from '../contract/index.ts'

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
