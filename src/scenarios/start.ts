/** Releases that a new scenario is asked to start from: known here, or judged like any other change. */
import { invalid, unknown, type JsonObject, type Release, type ScenarioStore } from '../contract/index.ts'
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
    const maker = await store.release(releaseId)
    if (maker === null) continue
    const [created] = await store.commits({ after: -1, limit: 1 })
    if (created === undefined || createdWith(created, 'recipe') !== recipeName) continue
    if (!maker.pending || (await isPromoted(store, releaseId))) return 'published'
    state = 'held'
  }
  return state
}

async function isPromoted(store: Pick<ScenarioStore, 'chain'>, releaseId: string): Promise<boolean> {
  for (let after = -1; ;) {
    const page = await store.chain({ after, limit: COMMITS_PER_READ, only: { target: releaseId } })
    const last = page.at(-1)
    if (last === undefined) return false
    if (page.some(({ operation }) => operation === 'promote')) return true
    after = last.step
  }
}
