/** The releases that a change takes something away from: of each entry that it replaces or removes, the last one before it that changed that entry and went live. */
import { isObject, type JsonObject } from '../contract/index.ts'
import { isPublished, type ReleasedCommit } from '../releases/index.ts'
import { COMMITS_PER_READ, remembered } from './history.ts'
import type { Scenario } from './scenario.ts'

/** A page of a person waits for this; what was asked for before that is not looked for. */
const RELEASES_READ_MAX = 1000

interface ChangeRow {
  readonly step: number
  readonly metrics: JsonObject
}

/** With what was asked for and the ids of what they changed, and nothing else that they measured. */
export async function releasesTakenFrom({ releases }: Pick<Scenario, 'releases'>, row: ChangeRow): Promise<readonly ReleasedCommit[]> {
  const wanted = new Set(changesIn(row).flatMap(({ op, id }) => (op === 'update' || op === 'remove' ? [id] : [])))
  const found: ReleasedCommit[] = []
  for (let [before, read] = [row.step, 0]; wanted.size > 0 && read < RELEASES_READ_MAX;) {
    const page = await releases.page({ before, limit: COMMITS_PER_READ })
    for (const each of page) {
      const taken = changesIn(each).filter(({ id }) => wanted.has(id))
      if (taken.length === 0 || !(await wentLive(releases, each))) continue
      found.push(withChanges(each))
      for (const { id } of taken) wanted.delete(id)
    }
    const last = page.at(-1)
    if (last === undefined) break
    before = last.step
    read += page.length
  }
  return found
}

async function wentLive(releases: Scenario['releases'], row: ReleasedCommit): Promise<boolean> {
  return isPublished(row) || (row.pending && (await releases.review(row.release.release_id))?.operation === 'promote')
}

/** The entries that a step changes, as its row has them. */
function changesIn({ metrics }: ChangeRow): readonly { readonly op: string; readonly id: string }[] {
  const { mutation, mutations } = metrics
  const all = Array.isArray(mutations) ? mutations : [mutation ?? null]
  return all.flatMap((each) => {
    const { op, id } = isObject(each) ? each : {}
    return typeof op === 'string' && typeof id === 'string' ? [{ op, id }] : []
  })
}

function withChanges(commit: ReleasedCommit): ReleasedCommit {
  const { training_request: request } = commit.metrics
  const asked = isObject(request) && typeof request['id'] === 'string' ? { id: request['id'] } : {}
  const kept = remembered(commit)
  const { training_request: known, ...more } = kept.metrics
  const mutations = changesIn(commit).map((each) => ({ ...each }))
  return { ...kept, metrics: { ...more, training_request: { ...(isObject(known) ? known : {}), ...asked }, mutations } }
}
