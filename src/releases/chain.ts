/** The rows that made a release: the head among them, derived from the rows and never stored apart, and what names one. */
import type { Commit, Release } from '../contract/index.ts'

/** A scenario's rows, oldest first; the first one created it. Only a catalog needs the rows without a release. */
export type Commits = readonly Commit[]

/** A row that has a release: published, held for review, or rejected by a person. The row that rejects one is never the first that has it. */
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

/** Where a release stands among the others. */
export interface MadeRelease {
  /** The id under which it is listed: its own, or that of the release whose tree it carries. */
  readonly as: string
  /** What its parent is listed as. */
  readonly parent: string | null
  /** The step that evaluated its tree; null where there was no evaluation. */
  readonly evaluated: number | null
  /** The next release up its chain that requires something of a machine. */
  readonly asking: string | null
}

/** The row that made a release first, and where that release stands. */
export interface MakerRow {
  readonly row: ReleasedCommit
  readonly made: MadeRelease
}

/** The releases of a scenario, looked up one at a time. */
export interface ReleaseIndex {
  /** The row that is served. */
  readonly head: MakerRow
  /** Null for a release that no row of the scenario made. */
  find(releaseId: string): Promise<MakerRow | null>
  /** The row by which a person promoted or rejected a held release. */
  review(releaseId: string): Promise<ReleasedCommit | null>
  /** What people said of it, oldest first, no more than `most`. */
  comments(releaseId: string, most: number): Promise<readonly ReleasedCommit[]>
}
