/**
 * What a loaded scenario keeps of its rows: the row that is served, the latest row of each trainer, and running totals. It needs the same
 * memory however many steps and releases there are. The store has the rows.
 */
import { isObject, provisionalGain, type Commit, type JsonObject } from '../contract/index.ts'
import { contentIn, isPublished, isReleased, publicationsOf } from '../releases/index.ts'
import type { MakerRow, PublishedCommit, ReleasedCommit } from '../releases/index.ts'
import { NO_STEPS, type TrainerTally } from '../training/index.ts'
import { totalsOf, type Totals } from './totals.ts'

/** The metric that names the folder of live weights, relative to the scenario's directory. */
export const LIVE_METRIC = 'live_weights'

/** At most this many whole rows are in memory while a history is read. */
export const COMMITS_PER_READ = 100

export interface HeadRow extends MakerRow {
  readonly row: PublishedCommit
}

/** The row that made the provisional release, and how much better that seemed. */
export interface ProvisionalRow {
  readonly row: ReleasedCommit
  readonly gain: number
}

export class History {
  /** The component whose tree clients pull; undefined where it is the whole release. */
  readonly component: string | undefined
  /** The newest step; -1 before the creation row. */
  step = -1
  /** The latest training row of any component, whole. */
  lastTrained: Commit | null = null
  readonly #latest = new Map<string, Commit>()
  #totals: Totals | null = null
  #head: HeadRow | null = null
  /** Null while there is none. */
  provisional: ProvisionalRow | null = null

  constructor(component: string | undefined) {
    this.component = component
  }

  /**
   * Continues after a row that has its totals. `head` and `latest` are the rows that are served and that trained last by then, `provisional`
   * the one that made the provisional release.
   */
  static after(
    row: Commit,
    totals: Totals,
    { head, latest, provisional }: { readonly head: HeadRow; readonly latest: readonly Commit[]; readonly provisional: Commit | null },
    component: string | undefined,
  ): History {
    const history = new History(component)
    history.provisional = provisionalRow(provisional)
    history.#totals = totals
    history.#head = { ...head, row: remembered(head.row) }
    for (const each of latest.toSorted((one, other) => one.step - other.step)) history.#trained(each)
    history.step = row.step
    return history
  }

  /** Takes constant time. A row counts once, and has its totals. */
  follow(commit: Commit): void {
    if (commit.step <= this.step) return
    const totals = totalsOf(commit, this.component)
    if (totals === null) throw new Error(`step ${commit.step} has no totals`)
    this.#totals = totals
    const { made } = totals.chain
    if (made !== null && isPublished(commit)) this.#head = { row: remembered(commit), made }
    if (commit.operation === 'train') this.#trained(commit)
    if (totals.provisional.step === commit.step) this.provisional = provisionalRow(commit)
    else if (totals.provisional.step === null) this.provisional = null
    this.step = commit.step
  }

  #trained(commit: Commit): void {
    this.#latest.set(commit.component ?? '', commit)
    this.lastTrained = commit
  }

  /** Null before the creation row. */
  get totals(): Totals | null {
    return this.#totals
  }

  get head(): HeadRow {
    if (this.#head === null) throw new Error('a scenario without a published release: its creation row is missing')
    return this.#head
  }

  /** How many rows the catalog lists. */
  get count(): number {
    return this.#totals?.chain.count ?? 0
  }

  trained(component: string): TrainerTally {
    const { latest: _latest, ...tally } = this.#totals?.trained.get(component) ?? { ...NO_STEPS, latest: -1 }
    return tally
  }

  /** The latest training row of a component, whole. */
  latest(component: string): Commit | undefined {
    return this.#latest.get(component)
  }

  /** How often the served content of a component changed since creation, or the whole content where there are no components. */
  publications(component: string, landing: Commit | null = null): number {
    const count = publicationsOf(this.#totals?.chain.publications ?? new Map(), component)
    const isNext = landing !== null && landing.step > this.step && isPublished(landing)
    return count + (isNext && contentIn(landing, component) !== contentIn(this.#head?.row ?? null, component) ? 1 : 0)
  }
}

function provisionalRow(row: Commit | null): ProvisionalRow | null {
  const gain = row === null ? null : provisionalGain(row)
  return row === null || gain === null || !isReleased(row) ? null : { row: remembered(row), gain }
}

/** The row that made a release, as the store answers it; null for a row without a release. */
export function makerIn(row: Commit | null, component: string | undefined): MakerRow | null {
  if (row === null || !isReleased(row)) return null
  const made = totalsOf(row, component)?.chain.made ?? null
  if (made === null) throw new Error(`step ${row.step} has no totals`)
  return { row, made }
}

/** Without what it consumed and left behind. Of its metrics the requirements of a release, the folder of live weights and a person's words are kept. */
export function remembered<Row extends ReleasedCommit>(commit: Row): Row {
  return { ...commit, consumed_ids: [], state: {}, metrics: rememberedMetrics(commit) }
}

function rememberedMetrics({ operation, metrics }: Commit): JsonObject {
  const { training_request: request, [LIVE_METRIC]: live, reason, comment, by } = metrics
  const { requires } = isObject(request) ? request : {}
  return {
    ...(requires !== undefined && { training_request: { requires } }),
    ...(live !== undefined && { [LIVE_METRIC]: live }),
    ...(operation === 'reject' && reason !== undefined && { reason }),
    ...(operation === 'comment' && comment !== undefined && { comment, ...(by !== undefined && { by }) }),
  }
}
