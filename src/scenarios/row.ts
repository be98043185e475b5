/** A row that puts a release in front of users without having trained: a scenario's first, and every move of its head. */
import type { Commit, Release } from '../contract/index.ts'

type Given = Pick<Commit, 'step' | 'operation' | 'recorded_at' | 'state'> & Partial<Pick<Commit, 'rollback_target_release_id'>>

export function publishedRow(release: Release, given: Given): Commit {
  return { ...given, release, pending: false, outcome: 'published', consumed_ids: [], metrics: {} }
}
