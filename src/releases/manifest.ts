/** What the rows say about the tree that a client pulls: its release, its evaluation and its requirements. */
import { unknown, type JsonObject, type Release, type Requires } from '../contract/index.ts'
import { EVALUATION_METRICS } from '../contract/wire/index.ts'
import { isRestorable } from './catalog.ts'
import { headOf, type Commits } from './chain.ts'
import { listedCatalog, pulledId } from './listed.ts'
import { chainOf, requiresOf } from './requires.ts'

export interface PulledRelease {
  /** The release whose files are pulled. */
  readonly release: Release
  /** Its identity among the releases that changed the tree. */
  readonly release_id: string
  readonly parent_release_id: string | null
  /** The step that evaluated this tree; null where there was no evaluation. */
  readonly evaluatedAt: number | null
  readonly requires: readonly Requires[]
  /** The step of the row that published or held it. */
  readonly step: number
  readonly held: boolean
  /** When that row was written. */
  readonly time: number
}

/** The head, or a published or held release by its id. */
export function pulledRelease(commits: Commits, component: string | undefined, wanted: string | null): PulledRelease {
  const release = wanted === null ? headOf(commits) : knownRelease(commits, wanted)
  const release_id = pulledId(commits, release, component)
  const made = commits.find((row) => row.release?.release_id === release_id)
  if (made === undefined) throw new Error('a release without a row')
  return {
    step: made.step,
    held: made.pending,
    time: made.recorded_at,
    release,
    release_id,
    parent_release_id: component === undefined ? release.parent_release_id : listedParent(commits, component, release_id),
    evaluatedAt: evaluatedAt(commits, release_id, component),
    requires: requiresOf(commits, release.release_id, component),
  }
}

function knownRelease(commits: Commits, id: string): Release {
  const release = commits.find((row) => row.release?.release_id === id)?.release
  if (release !== undefined && release !== null && isRestorable(id)) return release
  throw unknown(
    'unknown_release',
    'release_id: names no release of this scenario that can be pulled; GET /svc/harness/releases lists those there are',
  )
}

const listedParent = (commits: Commits, component: string, releaseId: string): string | null =>
  listedCatalog(commits, component).find((row) => row.release_id === releaseId)?.parent_release_id ?? null

/** A promoted or restored release was evaluated when it was made. */
function evaluatedAt(commits: Commits, releaseId: string, component: string | undefined): number | null {
  const made = chainOf(commits, releaseId, component).find(({ operation }) => operation !== 'promote' && operation !== 'rollback')
  return made?.step ?? null
}

export function evaluationIn(metrics: JsonObject): JsonObject {
  return Object.fromEntries(EVALUATION_METRICS.flatMap((name) => (metrics[name] === undefined ? [] : [[name, metrics[name]]])))
}
