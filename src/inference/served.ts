/** Which release a client is served: the head, or the provisional one where the client takes it or its session was drawn. */
import { RELEASE_TAG, SESSION_TAG, type Release, type ServedProvisional } from '../contract/index.ts'
import { chanceOf } from '../kit/index.ts'
import type { Tags } from './payload.ts'

export interface AskingClient {
  readonly tags: Tags
  /** What the client says of unproven releases; null where it says nothing. */
  readonly takesProvisional?: boolean | null
}

interface OfferedReleases {
  head(): Release
  readonly provisional?: ServedProvisional | null
}

/**
 * A session is drawn by its name, so that it is served the same release throughout. A client that holds another release already stays out of
 * the draw: a conversation that has begun is not moved.
 */
export function releaseFor(scenario: OfferedReleases, { tags, takesProvisional = null }: AskingClient): Release {
  const { provisional = null } = scenario
  if (provisional === null || takesProvisional === false) return scenario.head()
  const { release, share } = provisional
  const held = tags[RELEASE_TAG]
  if (takesProvisional === true || held === release.release_id) return release
  const session = tags[SESSION_TAG]
  const isDrawn = held === undefined && session !== undefined && chanceOf(`canary ${release.release_id} ${session}`) < share
  return isDrawn ? release : scenario.head()
}
