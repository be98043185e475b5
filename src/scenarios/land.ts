/** Appends one row to a scenario: content, row, pointer, loader, in this order and in the scenario's lane. The row is the point where it happened. */
import { POINT_SECONDS_MAX, type Commit, type Release, type SealMark } from '../contract/index.ts'
import { within } from '../kit/index.ts'
import { SKIPPED, type Draft } from '../training/index.ts'
import type { Household } from './household.ts'
import { composeWith, type Contents } from './composed.ts'
import { reach } from './reach.ts'
import type { Scenario } from './scenario.ts'

/** What a row says beside its step, its time and its release. */
export type Given = Omit<Commit, 'step' | 'recorded_at' | 'release' | 'pending'>

/** What a step came to. A candidate that changes nothing is not published: the row says so. */
export async function landStep(house: Household, scenario: Scenario, draft: Draft): Promise<Commit> {
  const { content, component, ...given } = draft
  const row: Given = { operation: 'train', ...given, ...(component !== '' && { component }) }
  if (content === null) return landRow(house, scenario, row, null)
  const head = scenario.head()
  const contents = await composeWith(house, head, component, content)
  if (contents.content_id !== head.content_id) return landRow(house, scenario, row, contents)
  return landRow(house, scenario, { ...row, outcome: 'skipped', metrics: { ...row.metrics, skipped: SKIPPED.unchanged } }, null)
}

export async function landRow(house: Household, scenario: Scenario, given: Given, contents: Contents | null): Promise<Commit> {
  const step = (scenario.commits.at(-1)?.step ?? 0) + 1
  const at = house.clock()
  const release = contents === null ? null : await seal(house, contents, scenario.head(), { step, operation: given.operation, at })
  const row: Commit = { ...given, step, recorded_at: at, release, pending: given.outcome === 'pending' }
  await scenario.store.commit(row)
  if (release !== null) await (row.pending ? soon(house, hold(house, release)) : serve(house, scenario, release))
  scenario.landed(row)
  return row
}

export async function seal({ contents: store }: Household, contents: Contents, parent: Release | null, mark: SealMark): Promise<Release> {
  return {
    ...(await reach(store.seal(contents.content_id, parent, mark))),
    ...(contents.components && { components: contents.components }),
  }
}

async function serve(house: Household, scenario: Scenario, release: Release): Promise<void> {
  await soon(house, point(house, scenario.name, release))
  await scenario.load(release).catch((error: unknown) => house.warn('a new release could not be loaded', error))
}

/** The row is durable: from here on nothing may keep it from being counted. */
function soon(house: Household, work: Promise<void>): Promise<void> {
  return within(POINT_SECONDS_MAX, work).catch((error: unknown) => house.warn('a ref of a scenario is still on its way', error))
}

/** Both refs are derived from the row, which is durable: what fails here is told, and done again at the next load. */
export function point(house: Household, name: string, release: Release): Promise<void> {
  return house.contents.point(name, release).catch((error: unknown) => house.warn('a scenario could not be pointed at its release', error))
}

export function hold(house: Household, release: Release): Promise<void> {
  return house.contents.hold(release).catch((error: unknown) => house.warn('a release held for review has no ref yet', error))
}
