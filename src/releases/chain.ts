/** The head, derived from the rows. It is never stored separately. */
import type { Commit, Release } from '../contract/index.ts'

/** A scenario's rows, oldest first; the first one created it. Only a catalog needs the rows without a release. */
export type Commits = readonly Commit[]

/** A row that made a release: published, or held for review. */
export type ReleasedCommit = Commit & { readonly release: Release }

export const isReleased = (commit: Commit): commit is ReleasedCommit => commit.release !== null

/** A row that made a release live, by training, promote, rollback or creation. */
export type PublishedCommit = ReleasedCommit & { readonly pending: false; readonly outcome: 'published' }

export const isPublished = (commit: Commit): commit is PublishedCommit =>
  commit.release !== null && !commit.pending && commit.outcome === 'published'

/** The newest row that published. Rejected, skipped, failed and held steps leave the head where it was. */
export function headRow(commits: Commits): PublishedCommit {
  const row = commits.findLast(isPublished)
  if (row === undefined) throw new Error('a scenario without a published release: its creation row is missing')
  return row
}

export const headOf = (commits: Commits): Release => headRow(commits).release
