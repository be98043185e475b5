/** Appends one row to a scenario: content, row, then pointer and loader, in the scenario's lane. The row is the commit point. */
import { isEngineAway, POINT_SECONDS_MAX, PROVISIONAL_ENDED_METRIC, PROVISIONAL_METRIC } from '../contract/index.ts'
import type { Commit, Fence, JsonObject, ProvisionalEnd, Release, SealMark } from '../contract/index.ts'
import { within, wordsOf } from '../kit/index.ts'
import { isRestorable, type ReleasedCommit } from '../releases/index.ts'
import { SKIPPED, type StepDraft } from '../training/index.ts'
import { reach, type Services } from './services.ts'
import { composeWith, type ReleaseContent } from './composed.ts'
import { withTotals } from './read-history.ts'
import type { Scenario } from './scenario.ts'
import { liveMetrics, livePath, liveRelease, nextLoadId, weightsAt } from './weights.ts'

/** A row without its step, time and release. */
export type RowFields = Omit<Commit, 'step' | 'recorded_at' | 'release' | 'pending'>

/** Lands the outcome of a step, if the lease is still held. A candidate that equals the head is recorded as skipped. */
export async function landStep(services: Services, scenario: Scenario, draft: StepDraft, fence: Fence): Promise<Commit> {
  const { content, live, component, gain, ...given } = draft
  const row: RowFields = { operation: 'train', ...given, ...(component !== '' && { component }) }
  if (live !== null) return landLive(services, scenario, row, live, { fence })
  if (content === null) return landRow(services, scenario, row, null, { fence })
  const head = scenario.head()
  const contents = await composeWith(services, head, component, content)
  if (row.outcome === 'rejected') return landUndecided(services, scenario, { row, gain, contents }, fence)
  if (contents.content_id !== head.content_id)
    return landUnlessRejected(services, scenario, unlessWithdrawn(scenario, row, contents), contents, fence)
  return landRow(services, scenario, skippedRow(row, SKIPPED.unchanged), null, { fence })
}

const skippedRow = (row: RowFields, skipped: string): RowFields => ({ ...row, outcome: 'skipped', metrics: { ...row.metrics, skipped } })

/** Content that a person rejected comes back only where a person asks for it. */
function landUnlessRejected(
  services: Services,
  scenario: Scenario,
  row: RowFields,
  contents: ReleaseContent,
  fence: Fence,
): Promise<Commit> {
  const rejected = scenario.history.totals?.rejected.find(({ content_id }) => content_id === contents.content_id)
  if (rejected === undefined || row.metrics['training_request'] !== undefined) return landRow(services, scenario, row, contents, { fence })
  return landRow(services, scenario, skippedRow(row, `${SKIPPED.rejected} at step ${rejected.step}`), null, { fence })
}

interface Undecided {
  readonly row: RowFields
  /** Null for content that lost. */
  readonly gain: number | null
  readonly contents: ReleaseContent
}

/** A candidate that is not decided becomes the provisional release, goes on as that, or lands as rejected; one that lost ends it. */
function landUndecided(services: Services, scenario: Scenario, { row, gain, contents }: Undecided, fence: Fence): Promise<Commit> {
  const { provisional, totals } = scenario.history
  const isThere = provisional?.row.release.content_id === contents.content_id
  if (gain === null && provisional !== null && isThere)
    return landRow(services, scenario, { ...row, metrics: { ...row.metrics, ...endedMetrics(provisional.row, 'refuted') } }, null, {
      fence,
    })
  const wasRefused =
    totals?.provisional.withdrawn.includes(contents.content_id) === true ||
    totals?.rejected.some(({ content_id }) => content_id === contents.content_id) === true
  const isUnchanged = contents.content_id === scenario.head().content_id
  const isLess = provisional !== null && provisional.gain >= (gain ?? 0)
  if (gain === null || isThere || wasRefused || isUnchanged || isLess) return landRow(services, scenario, row, null, { fence })
  const offered = { ...row, outcome: 'pending', metrics: { ...row.metrics, [PROVISIONAL_METRIC]: { gain } } } as const
  return landRow(services, scenario, offered, contents, { fence })
}

/** What live scores or a person took back is not published by tasks alone. */
function unlessWithdrawn({ history: { totals } }: Scenario, row: RowFields, { content_id }: ReleaseContent): RowFields {
  if (row.outcome !== 'published' || totals?.provisional.withdrawn.includes(content_id) !== true) return row
  const because = 'it was served provisionally and withdrawn, since when nothing else was published; a person decides'
  return { ...row, outcome: 'pending', metrics: { ...row.metrics, held_because: because } }
}

/** What the row says that ends the provisional release. */
export const endedMetrics = ({ step, release }: ReleasedCommit, because: ProvisionalEnd): JsonObject => ({
  [PROVISIONAL_ENDED_METRIC]: { step, release_id: release.release_id, content_id: release.content_id, because },
})

/** Weights kept only in the engine and in the scenario's own folder. A later checkpoint includes what they learnt. */
function landLive(services: Services, scenario: Scenario, given: RowFields, path: string, how: Landing): Promise<Commit> {
  const { component = '' } = scenario.surface.weights ?? {}
  const release = liveRelease(nextLoadId(scenario, component), nextStep(scenario), scenario.history.head.row.release)
  return append(services, scenario, { ...given, metrics: { ...given.metrics, ...liveMetrics(path) } }, release, services.clock(), how)
}

export async function landRow(
  services: Services,
  scenario: Scenario,
  given: RowFields,
  contents: ReleaseContent | null,
  how: Landing = {},
): Promise<Commit> {
  const at = services.clock()
  const mark = { step: nextStep(scenario), operation: given.operation, at }
  return append(services, scenario, given, contents === null ? null : await sealOnHead(services, scenario, contents, mark), at, how)
}

/** A row for a release that exists already: it waits for review, or a person rejects it. */
export const reviewRelease = (services: Services, scenario: Scenario, given: RowFields, release: Release): Promise<Commit> =>
  append(services, scenario, given, release, services.clock())

/** Live weights have no commit: in the repository a checkpoint follows the checkpoint before it, in the chain the release it was trained on. */
async function sealOnHead(services: Services, scenario: Scenario, contents: ReleaseContent, mark: SealMark): Promise<Release> {
  const head = scenario.history.head.row.release
  return { ...(await seal(services, contents, await scenario.releases.lastKept(head), mark)), parent_release_id: head.release_id }
}

interface Landing {
  /** When an engine refuses a published release, the previous one is published again. This is that attempt: it stays, served or not. */
  readonly isRestoring?: boolean
  /** The row lands only under this lease. */
  readonly fence?: Fence
}

const nextStep = ({ history }: Scenario): number => history.step + 1

async function append(
  services: Services,
  scenario: Scenario,
  given: RowFields,
  release: Release | null,
  at: number,
  { isRestoring = false, fence }: Landing = {},
): Promise<Commit> {
  const bare: Commit = { ...given, step: nextStep(scenario), recorded_at: at, release, pending: given.outcome === 'pending' }
  const row = await withTotals(scenario.store, scenario.history, bare)
  await scenario.store.commit(row, fence)
  if (release === null || row.outcome !== 'published') {
    if (release !== null && row.pending) await waitBriefly(services, hold(services, release))
    scenario.landed(row)
    return row
  }
  const before = scenario.head()
  const refused = await serve(services, scenario, release, row)
  if (refused === null || isRestoring) scenario.landed(row)
  else await refuse(services, scenario, row, before, refused)
  return row
}

async function refuse(services: Services, scenario: Scenario, row: Commit, before: Release, reason: string): Promise<void> {
  // No engine serves its release: requests keep the previous head until a further row restores it.
  scenario.history.follow(row)
  try {
    await republish(services, scenario, before, reason)
  } finally {
    scenario.settle()
  }
}

export async function seal(
  { contents: store }: Services,
  contents: ReleaseContent,
  parent: Release | null,
  mark: SealMark,
): Promise<Release> {
  return {
    ...(await reach(store.seal(contents.content_id, parent, mark))),
    ...(contents.components && { components: contents.components }),
  }
}

/**
 * Answers why a reachable engine refuses the release, or null. The head moves at the moment the engine switches, else when the loader has it.
 * A move does not wait for its pointer, which follows from the row; its answer does. The end of a step is seen by its head, so that comes last.
 */
async function serve(services: Services, scenario: Scenario, release: Release, row: Commit): Promise<string | null> {
  const pointing = isRestorable(release.release_id) ? waitBriefly(services, point(services, scenario.name, release)) : null
  if (row.operation === 'train') await pointing
  const land = (): void => scenario.landed(row)
  try {
    await load(services, scenario, release, row, land)
    land()
    return null
  } catch (error) {
    services.warn('a new release could not be loaded', error)
    return scenario.surface.weights === undefined || isEngineAway(error) ? null : wordsOf(error)
  } finally {
    await pointing
  }
}

/** Prepares a release for serving, also before its row has landed: the loader first, then the engine. */
export function load(
  services: Services,
  scenario: Scenario,
  release: Release,
  landing: Commit | null = null,
  switched?: () => void,
): Promise<void> {
  return scenario.load(release, () => weightsAt(services, scenario, release, landing), switched)
}

/** Records must name the release that answers, so the previous release becomes the head again, by a row that says why. */
export async function republish(services: Services, scenario: Scenario, before: Release, reason: string): Promise<void> {
  const given = { operation: 'rollback', outcome: 'published', consumed_ids: [], metrics: { error: reason }, state: {} } as const
  const to = (target: Release): RowFields => ({ ...given, rollback_target_release_id: target.release_id })
  const path = await livePath(services, scenario, before)
  if (path !== null) await landLive(services, scenario, to(before), path, { isRestoring: true })
  else {
    const target = await scenario.releases.lastKept(before)
    await landRow(services, scenario, to(target), target, { isRestoring: true })
  }
}

/** The row is durable, so a slow or failing ref must not delay counting it. */
function waitBriefly(services: Services, work: Promise<void>): Promise<void> {
  return within(POINT_SECONDS_MAX, work).catch((error: unknown) => services.warn('a ref of a scenario is not written yet', error))
}

/** Both refs are derived from the durable row: a failure is logged, and the next load sets them again. */
export function point(services: Services, name: string, release: Release): Promise<void> {
  return services.contents
    .point(name, release)
    .catch((error: unknown) => services.warn('a scenario could not be pointed at its release', error))
}

export function hold(services: Services, release: Release): Promise<void> {
  return services.contents.hold(release).catch((error: unknown) => services.warn('a release held for review has no ref yet', error))
}
