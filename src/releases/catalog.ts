/**
 * The catalog: one row per step, as the releases route shows it. A release has one of these states, read from the rows:
 *
 * published  some row published it. It stays restorable for good, whatever is served later.
 * pending    a row holds it for review. It can be pulled and promoted, not rolled back to. Promoting makes a new release; the held
 *            row stays pending, and the promote row names it as its target.
 *
 * A step that made no release (rejected, skipped, failed) shows the head it ran on.
 */
import type { Commit, CommitRow, Json, JsonObject, Release, ReleaseRow } from '../contract/index.ts'
import { ROW_METRICS } from '../contract/wire/index.ts'
import { headRow, isPublished } from './chain.ts'
import type { Commits } from './chain.ts'

/** What all the rows together say about one of them. */
export interface CatalogView {
  /** The step whose release is served now. */
  readonly current: number
  /** The release that was served when that step had landed. */
  headAt(step: number): Release
  isRestorable(releaseId: string): boolean
}

export function catalogOf(commits: Commits): readonly ReleaseRow[] {
  const published = commits.filter(isPublished)
  const restorable = new Set(published.map(({ release }) => release.release_id).filter(isRestorable))
  const { step: current } = headRow(commits)
  let at = -1
  return commits.map((commit) => {
    if (published[at + 1]?.step === commit.step) at += 1
    const head = published[at]?.release
    if (head === undefined) throw new Error(`step ${commit.step} comes before any release: the creation row is missing`)
    return catalogRow(commit, { current, headAt: () => head, isRestorable: (id) => restorable.has(id) })
  })
}

export function catalogRow(commit: Commit, view: CatalogView): ReleaseRow {
  const release = commit.release ?? view.headAt(commit.step)
  return rowOf(commit, release, { restorable: view.isRestorable(release.release_id), current: commit.step === view.current })
}

/** Live weights are lost with their engine; every other published release can be published again. */
export const isRestorable = (releaseId: string): boolean => !releaseId.startsWith('live:')

/** Releases held for review and not promoted since. */
export function heldReleases(commits: Commits): readonly Release[] {
  const promoted = new Set(commits.filter(({ operation }) => operation === 'promote').map((row) => row.rollback_target_release_id))
  return commits.flatMap(({ pending, release }) => (pending && release !== null && !promoted.has(release.release_id) ? [release] : []))
}

function rowOf(commit: Commit, release: Release, marks: { readonly restorable: boolean; readonly current: boolean }): ReleaseRow {
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
