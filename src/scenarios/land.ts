/** Appends one row to a scenario: content, row, pointer, loader, in this order and in the scenario's lane. The row is the point where it happened. */
import { isEngineAway, POINT_SECONDS_MAX, unavailable, type Commit, type Release, type SealMark } from '../contract/index.ts'
import { within, wordsOf } from '../kit/index.ts'
import { isRestorable } from '../releases/index.ts'
import { SKIPPED, type StepDraft } from '../training/index.ts'
import type { Services } from './services.ts'
import { composeWith, type Contents } from './composed.ts'
import { reach } from './reach.ts'
import type { Scenario } from './scenario.ts'
import { liveMetrics, livePath, liveRelease, nextLoadId, weightsAt } from './weights.ts'

/** What a row says beside its step, its time and its release. */
export type Given = Omit<Commit, 'step' | 'recorded_at' | 'release' | 'pending'>

/** What a step came to. A candidate that changes nothing is not published: the row says so. */
export async function landStep(services: Services, scenario: Scenario, draft: StepDraft): Promise<Commit> {
  const { content, live, component, ...given } = draft
  const row: Given = { operation: 'train', ...given, ...(component !== '' && { component }) }
  if (live !== null) return landLive(services, scenario, row, live)
  if (content === null) return landRow(services, scenario, row, null)
  const head = scenario.head()
  const contents = await composeWith(services, head, component, content)
  if (contents.content_id !== head.content_id) return landRow(services, scenario, row, contents)
  return landRow(services, scenario, { ...row, outcome: 'skipped', metrics: { ...row.metrics, skipped: SKIPPED.unchanged } }, null)
}

/** Weights that are kept nowhere but in the engine and in the scenario's own folder: a checkpoint later on has what they learnt. */
function landLive(services: Services, scenario: Scenario, given: Given, path: string, onRefusal?: OnRefusal): Promise<Commit> {
  const { component = '' } = scenario.surface.weights ?? {}
  const release = liveRelease(nextLoadId(scenario, component), nextStep(scenario), scenario.history.head.release)
  return append(services, scenario, { ...given, metrics: { ...given.metrics, ...liveMetrics(path) } }, release, services.clock(), onRefusal)
}

export async function landRow(
  services: Services,
  scenario: Scenario,
  given: Given,
  contents: Contents | null,
  onRefusal?: OnRefusal,
): Promise<Commit> {
  const at = services.clock()
  const mark = { step: nextStep(scenario), operation: given.operation, at }
  return append(services, scenario, given, contents === null ? null : await sealOnHead(services, scenario, contents, mark), at, onRefusal)
}

/** What lives in an engine is no commit: in the repository a checkpoint follows the one before it, in the chain the release it was made on. */
async function sealOnHead(services: Services, scenario: Scenario, contents: Contents, mark: SealMark): Promise<Release> {
  const head = scenario.history.head.release
  return { ...(await seal(services, contents, keptAt(scenario, head), mark)), parent_release_id: head.release_id }
}

/** When an engine will not serve what a row published: what was served before is published again, unless that is what was tried. */
type OnRefusal = 'take back' | 'stay'

const nextStep = ({ history }: Scenario): number => history.step + 1

async function append(
  services: Services,
  scenario: Scenario,
  given: Given,
  release: Release | null,
  at: number,
  onRefusal: OnRefusal = 'take back',
): Promise<Commit> {
  const row: Commit = { ...given, step: nextStep(scenario), recorded_at: at, release, pending: given.outcome === 'pending' }
  await scenario.store.commit(row)
  if (release === null || row.pending) {
    if (release !== null) await soon(services, hold(services, release))
    scenario.landed(row)
    return row
  }
  const before = scenario.head()
  const refused = await serve(services, scenario, release, row)
  if (refused === null || onRefusal === 'stay') scenario.landed(row)
  else await refuse(services, scenario, row, before, refused)
  return row
}

async function refuse(services: Services, scenario: Scenario, row: Commit, before: Release, reason: string): Promise<void> {
  scenario.landedUnserved(row)
  try {
    await takeBack(services, scenario, before, reason)
  } finally {
    scenario.settle()
  }
}

export async function seal({ contents: store }: Services, contents: Contents, parent: Release | null, mark: SealMark): Promise<Release> {
  return {
    ...(await reach(store.seal(contents.content_id, parent, mark))),
    ...(contents.components && { components: contents.components }),
  }
}

/** Answers why an engine that is there will not serve it, or null. The head moves in the moment that the engine does. */
async function serve(services: Services, scenario: Scenario, release: Release, row: Commit): Promise<string | null> {
  if (isRestorable(release.release_id)) await soon(services, point(services, scenario.name, release))
  try {
    await load(services, scenario, release, row, () => scenario.landed(row))
    return null
  } catch (error) {
    services.warn('a new release could not be loaded', error)
    return scenario.surface.weights === undefined || isEngineAway(error) ? null : wordsOf(error)
  }
}

/** A head is had ready, also one whose row has not landed yet: what serves from files first, then the engine. */
export function load(
  services: Services,
  scenario: Scenario,
  release: Release,
  landing: Commit | null = null,
  switched?: () => void,
): Promise<void> {
  return scenario.load(release, () => weightsAt(services, scenario, release, landing), switched)
}

/** Nothing else may be named by records than what answers: what was served before is the head again, by a row that says why. */
export async function takeBack(services: Services, scenario: Scenario, before: Release, reason: string): Promise<void> {
  const given = { operation: 'rollback', outcome: 'published', consumed_ids: [], metrics: { error: reason }, state: {} } as const
  const to = (target: Release): Given => ({ ...given, rollback_target_release_id: target.release_id })
  const path = livePath(services, scenario, before)
  if (path !== null) await landLive(services, scenario, to(before), path, 'stay')
  else {
    const target = keptAt(scenario, before)
    await landRow(services, scenario, to(target), target, 'stay')
  }
}

/** The release, or where it lives in an engine the newest before it whose content is kept. */
export function keptAt({ history }: Scenario, asked: Release): Release {
  if (isRestorable(asked.release_id)) return asked
  const made = history.makerOf(asked.release_id)?.step ?? 0
  const kept = history.released.findLast(({ step, release }) => step < made && history.isRestorable(release.release_id))
  if (kept !== undefined) return kept.release
  throw unavailable('store_damaged', 'no release of this scenario is kept; run svc verify')
}

/** The row is durable: from here on nothing may keep it from being counted. */
function soon(services: Services, work: Promise<void>): Promise<void> {
  return within(POINT_SECONDS_MAX, work).catch((error: unknown) => services.warn('a ref of a scenario is still on its way', error))
}

/** Both refs are derived from the row, which is durable: what fails here is told, and done again at the next load. */
export function point(services: Services, name: string, release: Release): Promise<void> {
  return services.contents
    .point(name, release)
    .catch((error: unknown) => services.warn('a scenario could not be pointed at its release', error))
}

export function hold(services: Services, release: Release): Promise<void> {
  return services.contents.hold(release).catch((error: unknown) => services.warn('a release held for review has no ref yet', error))
}
