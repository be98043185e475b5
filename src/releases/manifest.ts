/** What the rows say about the tree that a client pulls: its release, its evaluation and its requirements. */
import { unknown, type JsonObject, type Release, type Requires } from '../contract/index.ts'
import { EVALUATION_METRICS } from '../contract/wire/index.ts'
import { isRestorable } from './catalog.ts'
import type { MakerRow, ReleaseIndex } from './chain.ts'
import { requiresOf } from './requires.ts'

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
export async function pulledRelease(releases: ReleaseIndex, wanted: string | null): Promise<PulledRelease> {
  const { row, made } = wanted === null ? releases.head : await knownRelease(releases, wanted)
  const { release } = row
  const listed = made.as === release.release_id ? { row, made } : await releases.find(made.as)
  if (listed === null) throw new Error('a release without a row')
  return {
    step: listed.row.step,
    held: listed.row.pending,
    time: listed.row.recorded_at,
    release,
    release_id: made.as,
    parent_release_id: listed.made.parent,
    evaluatedAt: listed.made.evaluated,
    requires: await requiresOf(releases, release.release_id),
  }
}

async function knownRelease(releases: ReleaseIndex, id: string): Promise<MakerRow> {
  const found = isRestorable(id) ? await releases.find(id) : null
  if (found !== null) return found
  throw notPulled()
}

export const notPulled = (): Error =>
  unknown(
    'unknown_release',
    'release_id: names no release of this scenario that can be pulled; GET /svc/harness/releases lists those there are',
  )

export function evaluationIn(metrics: JsonObject): JsonObject {
  return Object.fromEntries(EVALUATION_METRICS.flatMap((name) => (metrics[name] === undefined ? [] : [[name, metrics[name]]])))
}
