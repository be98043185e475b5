/** Releases that a new scenario is asked to start from: known here, or judged like any other change. */
import { invalid, unknown, type JsonObject, type Release } from '../contract/index.ts'
import { adopt } from './composed.ts'
import { createdWith } from './files.ts'
import { COMMITS_PER_READ } from './history.ts'
import { reach, type Services } from './services.ts'

export async function existingRelease(services: Services, releaseId: string, components: readonly string[]): Promise<Release> {
  const release = await reach(services.contents.find(releaseId))
  if (release !== null) return adopt(services, components, release)
  throw unknown('unknown_release', 'release_id: names no release of this deployment; the releases of a scenario list those there are')
}

/** The metrics of the row that holds the release; null when it may be served at once. Throws when it may never be. */
export async function heldAtStart(services: Services, recipeName: string, release: Release): Promise<JsonObject | null> {
  const recipe = services.recipes.get(recipeName)?.recipe
  if (recipe?.judgeStart === undefined) return null
  const known = await stateHere(services, recipeName, release.release_id)
  if (known === 'published') return null
  const verdict = recipe.judgeStart(await reach(services.contents.read(release.content_id)))
  if (verdict.kind === 'refused')
    throw invalid(
      'release_not_admitted',
      `release_id: that release is not admitted: ${verdict.reason}; start from another, or from the seed`,
    )
  if (verdict.kind === 'held') return verdict.metrics
  if (known === 'held') return { held_because: 'it is held for review in the scenario that made it' }
  // The deployment signs what it serves, so it serves nothing of others that no person here has seen.
  return services.contents.isShared === true ? { held_because: 'it comes from the remote repository, and no step here made it' } : null
}

/** What the rows of scenarios of the same recipe say about the release. A held one that was promoted is published. */
async function stateHere(services: Services, recipeName: string, releaseId: string): Promise<'published' | 'held' | 'unknown'> {
  let state: 'held' | 'unknown' = 'unknown'
  for (const name of await services.store.scenarios()) {
    const store = services.store.scenario(name)
    for (let after = -1; ;) {
      const rows = await store.commits({ after, limit: COMMITS_PER_READ })
      const [first] = rows
      if (first === undefined) break
      if (first.step === 0 && createdWith(first, 'recipe') !== recipeName) break
      if (rows.some((row) => row.operation === 'promote' && row.rollback_target_release_id === releaseId)) return 'published'
      const maker = rows.find(({ release }) => release?.release_id === releaseId)
      if (maker !== undefined && !maker.pending) return 'published'
      if (maker !== undefined) state = 'held'
      after = rows.at(-1)?.step ?? after
    }
  }
  return state
}
