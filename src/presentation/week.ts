/** What a span of time brought: the releases that made something better and are still served, by how much, and what the steps took. */
import { makerOf, type StepRow, type StepRows } from './chain.ts'
import { isRecord, numberAt, type UnknownRecord } from './read.ts'
import { meanScores } from './scores.ts'

export const WEEK_SECONDS = 7 * 24 * 3600

export interface GainsOfSpan<Row> {
  /** The steps that made them, oldest first. */
  readonly releases: readonly Row[]
  /** The mean score before the first of them; null where it was not measured. */
  readonly before: number | null
  /** The mean score of the last of them. */
  readonly after: number | null
}

export interface SpentTotals {
  readonly steps: number
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly output_tokens: number
  /** Null where no price is known of any call. */
  readonly cost: number | null
  readonly unpriced_calls: number
}

/** What was learned since then. A rollback goes back to what was there when its target was published; what came before the span counts as nothing. */
export function gainsSince<Row extends StepRow>(rows: StepRows<Row>, since: number): GainsOfSpan<Row> {
  let releases: readonly Row[] = []
  const served = new Map<Row | undefined, readonly Row[]>()
  for (const row of rows.toSorted((one, other) => one.step - other.step)) {
    if (row.recorded_at < since || row.result !== 'published') continue
    if (row.operation === 'train') releases = [...releases, row]
    const target = makerOf(rows, row.rollback_target_release_id)
    if (row.operation === 'promote' && target?.operation === 'train') releases = [...releases, target]
    if (row.operation === 'rollback') releases = served.get(target) ?? []
    served.set(row, releases)
  }
  const measured = releases.flatMap(({ metrics }) => meanScores(metrics) ?? [])
  return { releases, before: measured[0]?.current ?? null, after: measured.at(-1)?.candidate ?? null }
}

/** What the steps since then took, those that brought nothing too; null where nothing was counted. */
export function spentSince(rows: StepRows, since: number): SpentTotals | null {
  const spent = rows
    .filter(({ recorded_at: at }) => at >= since)
    .flatMap(({ metrics }) => (isRecord(metrics['spent']) ? [metrics['spent']] : []))
  return spent.length === 0 ? null : totalOf(spent.map(spentOf))
}

export const totalOf = (spent: readonly SpentTotals[]): SpentTotals => {
  const sum = (name: Exclude<keyof SpentTotals, 'cost'>): number => spent.reduce((total, one) => total + one[name], 0)
  const costs = spent.flatMap(({ cost }) => cost ?? [])
  return {
    steps: sum('steps'),
    input_tokens: sum('input_tokens'),
    cached_tokens: sum('cached_tokens'),
    output_tokens: sum('output_tokens'),
    cost: costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0),
    unpriced_calls: sum('unpriced_calls'),
  }
}

const spentOf = (spent: UnknownRecord): SpentTotals => ({
  steps: 1,
  input_tokens: numberAt(spent, 'input_tokens') ?? 0,
  cached_tokens: numberAt(spent, 'cached_tokens') ?? 0,
  output_tokens: numberAt(spent, 'output_tokens') ?? 0,
  cost: numberAt(spent, 'cost'),
  unpriced_calls: numberAt(spent, 'unpriced_calls') ?? 0,
})
