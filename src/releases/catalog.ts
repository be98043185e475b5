/**
 * The catalog: one row per step, as the releases route shows it. A release has one of these states, read from the rows:
 *
 * published  some row published it. It stays restorable for good, whatever is served later.
 * pending    a row holds it for review. It can be pulled and promoted, not rolled back to. Promoting makes a new release; the held
 *            row stays pending, and the promote row names it as its target. So does the row that rejects it: from then on it can be pulled only.
 * provisional  a pending one that is not held for review but unproven: it looked better after one round. At most one is that of the scenario,
 *            until the head moves, a later step refutes it, or it is withdrawn.
 *
 * A step that made no release (rejected, skipped, failed) shows the head it ran on.
 */
import { provisionalGain } from '../contract/index.ts'
import type { Commit, CommitRow, Json, JsonObject, Release, ReleaseRow } from '../contract/index.ts'
import { ROW_METRICS } from '../contract/wire/index.ts'
import { headRow, isPublished } from './chain.ts'
import type { Commits } from './chain.ts'
import { NO_PROVISIONAL, provisionalAfter } from './provisional.ts'

/** What the other rows say about one of them. */
export interface RowCircumstances {
  /** The release that was served when its step had landed. */
  readonly head: Release
  /** Whether its release is served now. */
  readonly current: boolean
  /** Whether the release that it shows was published by some row. */
  readonly published: boolean
  /** The step of the row that made the provisional release there is now. */
  readonly provisional: number | null
}

export function catalogOf(commits: Commits): readonly ReleaseRow[] {
  const published = commits.filter(isPublished)
  const ids = new Set(published.map(({ release }) => release.release_id))
  const { step: current } = headRow(commits)
  const { step: provisional } = commits.reduce(provisionalAfter, NO_PROVISIONAL)
  let at = -1
  return commits.map((commit) => {
    if (published[at + 1]?.step === commit.step) at += 1
    const head = published[at]?.release
    if (head === undefined) throw new Error(`step ${commit.step} comes before any release: the creation row is missing`)
    return catalogRow(commit, {
      current: commit.step === current,
      head,
      published: ids.has((commit.release ?? head).release_id),
      provisional,
    })
  })
}

export function catalogRow(commit: Commit, { head, current, published, provisional }: RowCircumstances): ReleaseRow {
  const release = commit.release ?? head
  const mark = provisionalGain(commit) === null ? {} : { provisional: commit.step === provisional }
  return rowOf(commit, release, { restorable: published && isRestorable(release.release_id), current, ...mark })
}

/** Live weights are lost with their engine; every other published release can be published again. */
export const isRestorable = (releaseId: string): boolean => !releaseId.startsWith('live:')

function rowOf(commit: Commit, release: Release, marks: Pick<ReleaseRow, 'restorable' | 'current' | 'provisional'>): ReleaseRow {
  const { step, operation, recorded_at, pending, metrics, rollback_target_release_id, component } = commit
  return {
    ...lift(metrics),
    ...release,
    step,
    operation,
    recorded_at,
    pending,
    ...marks,
    result: commit.outcome,
    metrics,
    ...(rollback_target_release_id === undefined ? {} : { rollback_target_release_id }),
    ...(component === undefined ? {} : { component }),
  }
}

function lift(metrics: JsonObject): Readonly<Record<string, Json>> {
  return Object.fromEntries(ROW_METRICS.flatMap((name) => (metrics[name] === undefined ? [] : [[name, metrics[name]]])))
}

/** A commit as the commits route shows it, without the method's state. */
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
