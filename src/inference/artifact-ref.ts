/** Which release a kept exchange names: the one that served it, or the one its client says it has installed. */
import { RELEASE_TAG, type Release, type Runtime, type Surface } from '../contract/index.ts'
import type { Tags } from './payload.ts'

export interface Named {
  readonly surface: Surface
  readonly runtime: Runtime
  hasRelease(releaseId: string): boolean
}

/**
 * The client's tag counts only where clients hold the release themselves: the scenario serves files to pull, nothing of the release acts
 * inside this service (no hooks, no training runtime), and the tag names a release of the scenario's catalog.
 */
export function artifactRef(scenario: Named, tags: Tags, frozen: Release): string {
  const tag = tags[RELEASE_TAG]
  const isPulled = scenario.surface.files !== undefined && scenario.surface.hooks === undefined && scenario.surface.weights === undefined
  return tag !== undefined && isPulled && scenario.hasRelease(tag) ? tag : frozen.release_id
}
