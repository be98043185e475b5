/** What was tried, by score, money and time: which of it nothing else beats. */
import { makerOf, type MovableRow, type StepRows } from './chain.ts'
import { statusOf } from './outcome.ts'
import { numberAt, type UnknownRecord } from './read.ts'
import { meanScores } from './scores.ts'

/** Means per episode, as measured when it was tried. */
interface Measured {
  readonly score: number
  /** Null where a price is not known. */
  readonly cost: number | null
  /** Until the agent ended; null in rows of versions that did not count it. */
  readonly seconds: number | null
}

export interface ParetoPoint<Row> extends Measured {
  /** The step that tried it; of what a scenario began with, the one that made it. */
  readonly row: Row
  /** In a word: "Published", "Rejected". */
  readonly outcome: string
  readonly isServed: boolean
  /** Nothing that was tried is as good in all three and better in one. */
  readonly isOnFrontier: boolean
}

/** The best score first. Steps rarely play the same tasks equally often, so small differences between them say little. */
export function paretoOf<Row extends MovableRow>(rows: StepRows<Row>): readonly ParetoPoint<Row>[] {
  const served = rows.find(({ current }) => current)
  const tried = [...startOf(rows), ...rows.flatMap((row) => measuredAs('candidate', row, row.metrics))]
  return tried
    .map(({ row, ...measured }) => ({
      ...measured,
      row,
      outcome: statusOf(rows, row).word,
      isServed: served !== undefined && makerOf(rows, row.release_id) === row && row.content_id === served.content_id,
      isOnFrontier: !tried.some((other) => isBetter(other, measured)),
    }))
    .toSorted((one, other) => other.score - one.score || one.row.step - other.row.step)
}

/** What the first change was compared with. */
function startOf<Row extends MovableRow>(rows: StepRows<Row>) {
  const oldestFirst = rows.toSorted((one, other) => one.step - other.step)
  const [first] = oldestFirst
  const compared = oldestFirst.find(({ metrics }) => meanScores(metrics)?.current != null)
  return first === undefined || compared === undefined || meanScores(first.metrics) !== null
    ? []
    : measuredAs('current', first, compared.metrics)
}

function measuredAs<Row>(side: 'candidate' | 'current', row: Row, metrics: UnknownRecord): readonly (Measured & { readonly row: Row })[] {
  const score = meanScores(metrics)?.[side] ?? null
  if (score === null) return []
  return [{ row, score, cost: numberAt(metrics, `${side}_mean_cost`), seconds: numberAt(metrics, `${side}_mean_seconds`) }]
}

/** What only one of the two has cannot be compared. */
function isBetter(one: Measured, other: Measured): boolean {
  const gains = [one.score - other.score, savedBy(one.cost, other.cost), savedBy(one.seconds, other.seconds)]
  return gains.every((gain) => gain >= 0) && gains.some((gain) => gain > 0)
}

function savedBy(one: number | null, other: number | null): number {
  if (one === null && other === null) return 0
  return one === null || other === null ? NaN : other - one
}
