/**
 * Reads a scenario's history from the store. The newest row with totals is enough; rows without them (older stores, imports) are followed once,
 * page by page, and get theirs. Every row before one with totals has them too, so the first without is found by halving.
 */
import { provisionalGain, unavailable, type Commit, type JsonObject, type ScenarioHead, type ScenarioStore } from '../contract/index.ts'
import { isPublished, isReleased, type MakerRow } from '../releases/index.ts'
import { COMMITS_PER_READ, History, makerIn, type HeadRow } from './history.ts'
import { printTotals, totalsAfter, totalsOf } from './totals.ts'

export type HistoryStore = Pick<ScenarioStore, 'head' | 'commits' | 'chain' | 'release' | 'keepTotals'>

export async function readHistory(store: HistoryStore, component: string | undefined): Promise<History> {
  const head = await store.head()
  if (head === null) throw unavailable('store_damaged', 'the scenario has no creation row; run svc verify')
  const known = await (totalsOf(head.newest, component) === null
    ? earlierHistory(store, head.newest.step, component)
    : historyAt(store, head, component))
  const history = known ?? new History(component)
  await followRows(store, history, known === null)
  return history
}

/** Holds at most one page of whole rows at a time. `isAnew`: totals that the rows have are not believed, but worked out again. */
export async function followRows(store: HistoryStore, history: History, isAnew = false): Promise<void> {
  for (;;) {
    const stored = await store.commits({ after: history.step, limit: COMMITS_PER_READ })
    if (stored.length === 0) return
    const page = isAnew ? stored.map(withoutTotals) : stored
    const added = new Map<number, JsonObject>()
    const recent = new Map<string, MakerRow>()
    for (const row of page) {
      const whole = await withTotals(store, history, row, recent)
      if (whole !== row && whole.totals !== undefined) added.set(row.step, whole.totals)
      history.follow(whole)
      // The row that rejects a release or is about it did not make it.
      if (isReleased(whole) && whole.operation !== 'reject' && whole.operation !== 'comment' && !recent.has(whole.release.release_id))
        remember(whole, history, recent)
    }
    if (added.size > 0) await store.keepTotals(added)
  }
}

export function withoutTotals({ totals: _totals, ...row }: Commit): Commit {
  return row
}

/** The row that lands next, with its totals; the row itself where it has them. */
export async function withTotals(
  store: Pick<HistoryStore, 'release'>,
  history: History,
  row: Commit,
  recent: ReadonlyMap<string, MakerRow> = new Map(),
): Promise<Commit> {
  const { component, totals: before } = history
  if (totalsOf(row, component) !== null) return row
  const head = before === null ? null : history.head
  const find = async (id: string | null | undefined): Promise<MakerRow | null> => {
    if (id === null || id === undefined) return null
    if (id === head?.row.release.release_id) return head
    const known = recent.get(id)
    if (known !== undefined) return known
    const found = await store.release(id)
    return found !== null && found.step < row.step ? makerIn(found, component) : null
  }
  const { release, rollback_target_release_id: target } = row
  const named = { own: await find(release?.release_id), parent: await find(release?.parent_release_id), target: await find(target) }
  return { ...row, totals: printTotals(totalsAfter(before, head, row, named, component), component) }
}

function remember(row: Commit, { component }: History, recent: Map<string, MakerRow>): void {
  const maker = makerIn(row, component)
  if (maker !== null) recent.set(maker.row.release.release_id, maker)
}

/** Null where the rows have no totals, or contradict them. */
async function historyAt(store: HistoryStore, { newest, published }: ScenarioHead, component: string | undefined): Promise<History | null> {
  const totals = totalsOf(newest, component)
  const head = published === null ? null : headIn(published, component)
  if (totals === null || head === null) return null
  const latest: Commit[] = []
  for (const [name, { latest: step }] of totals.trained) {
    const [row] = step === newest.step ? [newest] : await store.commits({ after: step - 1, limit: 1 })
    if (row?.step !== step || row.operation !== 'train' || (row.component ?? '') !== name) return null
    latest.push(row)
  }
  const { step: made } = totals.provisional
  const [provisional = null] = made === null ? [] : made === newest.step ? [newest] : await store.commits({ after: made - 1, limit: 1 })
  if (made !== null && (provisional?.step !== made || provisionalGain(provisional) === null)) return null
  return History.after(newest, totals, { head, latest, provisional }, component)
}

function headIn(row: Commit, component: string | undefined): HeadRow | null {
  const made = totalsOf(row, component)?.chain.made ?? null
  return made === null || !isPublished(row) ? null : { row, made }
}

/** Up to the newest row that has its totals; null where none has, or the rows contradict them. */
async function earlierHistory(store: HistoryStore, newest: number, component: string | undefined): Promise<History | null> {
  let [low, high] = [0, newest]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    const [row] = await store.commits({ after: middle - 1, limit: 1 })
    if (row !== undefined && totalsOf(row, component) !== null) low = middle
    else high = middle
  }
  if (low === 0) return null
  const [row] = await store.commits({ after: low - 1, limit: 1 })
  const [published = null] = await store.chain({ before: low + 1, limit: 1, only: 'published' })
  return row === undefined ? null : historyAt(store, { newest: row, published }, component)
}
