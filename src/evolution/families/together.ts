/** Which tasks move together: what a change does to one of them tells what it does to the other. */
import { meanOf } from '../../kit/index.ts'
import type { MovesRow } from './moves.ts'

/** Two tasks, by their places, and how surely they move together: in standard errors. */
export interface MovingPair {
  readonly one: number
  readonly other: number
  readonly strength: number
}

/** The pairs of at least this strength, the strongest first. */
export function movingPairs(rows: readonly MovesRow[], strengthMin: number): readonly MovingPair[] {
  // A correlation times the root of the number of rows is that root at most.
  if (rows.length < strengthMin ** 2) return []
  const residuals = centred(rows.map(residualsOf))
  const tasks = rows[0]?.candidate.length ?? 0
  const spreads = spreadsOf(residuals, tasks)
  const found: MovingPair[] = []
  for (let one = 0; one < tasks; one += 1)
    for (let other = one + 1; other < tasks; other += 1) {
      const strength = strengthOf(residuals, one, other) / Math.sqrt((spreads[one] ?? 1) * (spreads[other] ?? 1))
      if (strength >= strengthMin) found.push({ one, other, strength })
    }
  return found.toSorted((a, b) => b.strength - a.strength)
}

type Residuals = readonly (number | null)[]

/**
 * What the candidate did to each task beyond what it did to all: the differences without their line over the served scores. A change that helps
 * or hurts every task moves them together for no shared luck, and a task that fails can only gain.
 */
function residualsOf({ candidate, current }: MovesRow): Residuals {
  const places = candidate.flatMap((score, place) => (score < 0 || (current[place] ?? -1) < 0 ? [] : [place]))
  const [xs, ys] = [places.map((place) => current[place] ?? 0), places.map((place) => (candidate[place] ?? 0) - (current[place] ?? 0))]
  const [meanX, meanY] = [meanOf(xs), meanOf(ys)]
  const spread = xs.reduce((sum, x) => sum + (x - meanX) ** 2, 0)
  const slope = spread === 0 ? 0 : xs.reduce((sum, x, at) => sum + (x - meanX) * ((ys[at] ?? 0) - meanY), 0) / spread
  const residuals: (number | null)[] = candidate.map(() => null)
  for (const [at, place] of places.entries()) residuals[place] = (ys[at] ?? 0) - meanY - slope * ((xs[at] ?? 0) - meanX)
  return residuals
}

/** Without what a task always does: some move under every change. */
function centred(rows: readonly Residuals[]): readonly Residuals[] {
  const means = (rows[0] ?? []).map((_, task) => meanOf(rows.flatMap((row) => row[task] ?? [])))
  return rows.map((row) => row.map((value, task) => (value === null ? null : value - (means[task] ?? 0))))
}

/** The mean square of each task, and at least that of all: of tasks that never move nothing is known. */
function spreadsOf(rows: readonly Residuals[], tasks: number): readonly number[] {
  const own = Array.from({ length: tasks }, (_, task) => meanOf(rows.flatMap((row) => squareOf(row[task]))))
  const least = meanOf(own)
  return own.map((spread) => Math.max(spread, least))
}

const squareOf = (value: number | null | undefined): readonly number[] => (value === null || value === undefined ? [] : [value ** 2])

/** The sum of the products over the root of their number. */
function strengthOf(rows: readonly Residuals[], one: number, other: number): number {
  let [sum, count] = [0, 0]
  for (const row of rows) {
    const [first, second] = [row[one] ?? null, row[other] ?? null]
    if (first === null || second === null) continue
    sum += first * second
    count += 1
  }
  return count === 0 ? 0 : sum / Math.sqrt(count)
}
