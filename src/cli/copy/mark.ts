/** Marks a store that is being copied to, so that no service starts on a part of it. */
import { UNFINISHED_COPY, unfinishedCopy, type Commit, type Store } from '../../contract/index.ts'

/** Answers what takes the mark away again. One that a service has used already is whole without what is copied, and is not marked. */
export async function markCopy(to: Store, now: number): Promise<() => Promise<void>> {
  const names = await to.scenarios()
  if (names.length > 0 && !names.includes(UNFINISHED_COPY)) return () => Promise.resolve()
  if (names.length === 0) await to.scenario(UNFINISHED_COPY).commit(creation(now))
  return async () => void (await to.archive(UNFINISHED_COPY))
}

/** A part of a store is no source either. */
export async function refuseUnfinished(from: Store): Promise<void> {
  if ((await from.scenarios()).includes(UNFINISHED_COPY)) throw unfinishedCopy()
}

function creation(recorded_at: number): Commit {
  const nothing = { release: null, pending: false, consumed_ids: [], metrics: {}, state: {} }
  return { step: 0, operation: 'create', outcome: 'published', recorded_at, ...nothing }
}
