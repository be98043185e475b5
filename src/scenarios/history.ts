/**
 * What a loaded scenario keeps of its rows: the rows that made a release, without metrics, consumed ids and state; the latest row of each
 * trainer, whole; and running totals. Steps that publish nothing need no further memory. The store has the rows.
 */
import { isObject, type Commit, type JsonObject, type Release } from '../contract/index.ts'
import { isPublished, isReleased, isRestorable, Listing, CatalogPositions } from '../releases/index.ts'
import type { CatalogView, PublishedCommit, ReleasedCommit } from '../releases/index.ts'
import { NO_STEPS, tallied, type TrainerTally } from '../training/index.ts'

/** The metric that names the folder of live weights, relative to the scenario's directory. */
export const LIVE_METRIC = 'live_weights'

/** At most this many whole rows are in memory while a history is read. */
export const COMMITS_PER_READ = 100

export class History implements CatalogView {
  readonly #released: ReleasedCommit[] = []
  readonly #published: PublishedCommit[] = []
  /** The row that made each release. */
  readonly #makers = new Map<string, ReleasedCommit>()
  readonly #tallies = new Map<string, TrainerTally>()
  readonly #latest = new Map<string, Commit>()
  readonly #changes = new Map<string, Changes>()
  /** The catalog of the tree that clients pull, and each row's position in it. */
  readonly listing: Listing
  readonly places = new CatalogPositions()
  /** The newest step; -1 before the creation row. */
  step = -1
  /** The latest training row of any component, whole. */
  lastTrained: Commit | null = null

  /** `component`: the one whose tree clients pull. */
  constructor(component: string | undefined) {
    this.listing = new Listing(component)
  }

  /** Takes constant time. A row counts once. */
  follow(commit: Commit): void {
    if (commit.step <= this.step) return
    const isMaker = isReleased(commit)
    if (isMaker) this.#followReleased(remembered(commit))
    const { release_id } = commit.release ?? this.head.release
    const { operation, component } = commit
    const isListed = this.listing.isListed({ operation, release_id, ...(component !== undefined && { component }) })
    this.places.follow(commit.step, isListed, isMaker)
    if (commit.operation === 'train') this.#followTrained(commit)
    this.step = commit.step
  }

  #followReleased(row: ReleasedCommit): void {
    this.#released.push(row)
    if (isPublished(row)) this.#published.push(row)
    if (!this.#makers.has(row.release.release_id)) this.#makers.set(row.release.release_id, row)
    this.listing.follow(row)
  }

  #followTrained(commit: Commit): void {
    const component = commit.component ?? ''
    this.#tallies.set(component, tallied(this.trained(component), commit))
    this.#latest.set(component, commit)
    this.lastTrained = commit
  }

  get released(): readonly ReleasedCommit[] {
    return this.#released
  }

  get head(): PublishedCommit {
    const head = this.#published.at(-1)
    if (head === undefined) throw new Error('a scenario without a published release: its creation row is missing')
    return head
  }

  /** The release that was served when that step had landed. */
  headAt(step: number): Release {
    let [low, high] = [0, this.#published.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#published[middle]?.step ?? 0) > step) high = middle
      else low = middle + 1
    }
    return (this.#published[low - 1] ?? this.head).release
  }

  get current(): number {
    return this.head.step
  }

  isRestorable(releaseId: string): boolean {
    const maker = this.makerOf(releaseId)
    return maker !== undefined && isPublished(maker) && isRestorable(releaseId)
  }

  makerOf(releaseId: string): ReleasedCommit | undefined {
    return this.#makers.get(releaseId)
  }

  trained(component: string): TrainerTally {
    return this.#tallies.get(component) ?? NO_STEPS
  }

  /** The latest training row of a component, whole. */
  latest(component: string): Commit | undefined {
    return this.#latest.get(component)
  }

  pulledId(releaseId: string): string {
    return this.listing.idOf(releaseId)
  }

  /** How often the served content of a component changed since creation, or the whole content where there are no components. */
  publications(component: string, landing: Commit | null = null): number {
    const changes = this.#changes.get(component) ?? { seen: 0, count: -1, content: null }
    this.#changes.set(component, changes)
    for (; changes.seen < this.#published.length; changes.seen += 1) {
      const content = contentIn(this.#published[changes.seen], component)
      if (content !== changes.content) changes.count += 1
      changes.content = content
    }
    const isNext = landing !== null && landing.step > this.step && isPublished(landing)
    return changes.count + (isNext && contentIn(landing, component) !== changes.content ? 1 : 0)
  }
}

/** Changes counted so far; the first publication is not a change. */
interface Changes {
  seen: number
  count: number
  content: string | null
}

function contentIn(commit: PublishedCommit | undefined, component: string): string | null {
  return commit?.release.components?.[component] ?? commit?.release.content_id ?? null
}

function remembered(commit: ReleasedCommit): ReleasedCommit {
  return { ...commit, consumed_ids: [], state: {}, metrics: rememberedMetrics(commit.metrics) }
}

/** Keeps the requirements of a release and the folder of live weights. */
function rememberedMetrics(metrics: JsonObject): JsonObject {
  const { training_request: request, [LIVE_METRIC]: live } = metrics
  const { requires } = isObject(request) ? request : {}
  return {
    ...(requires !== undefined && { training_request: { requires } }),
    ...(live !== undefined && { [LIVE_METRIC]: live }),
  }
}
