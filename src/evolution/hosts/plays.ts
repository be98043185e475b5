/** What the score of an episode depends on besides the tree, the task and the model. A worker plays for a service that has the same. */
import type { Adapter, JsonObject } from '../../contract/index.ts'
import { cacheKey } from '../cache.ts'
import type { EvolutionSettings } from '../method.ts'
import { pinnedVersion } from '../program.ts'

/** Raised when a built-in evaluator changes its scoring, to invalidate cached scores. */
const SCORED_AS = 2

export function playedWith({ evaluator, evaluator_module, executor, binary, sandbox, episode_timeout_s }: EvolutionSettings): JsonObject {
  return { scored_as: SCORED_AS, evaluator, evaluator_module, executor, binary, sandbox, episode_timeout_s }
}

/** One text for all of it, for a service and its workers to compare. */
export async function playsOf(adapter: Adapter, settings: EvolutionSettings): Promise<string> {
  return cacheKey([adapter.name, await pinnedVersion(adapter, settings.binary), playedWith(settings)])
}
