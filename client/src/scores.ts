/**
 * The scores of a step as people read them: the mean per episode, since a row has sums over what was played, and two steps rarely play equally
 * much. The terminal, the pages and the console print these, and nothing else. Metrics may be of any shape.
 */

export type Metrics = Readonly<Record<string, unknown>>

export interface MeanScores {
  /** Null for a side that was not played. */
  readonly candidate: number | null
  readonly current: number | null
}

/** Null of a step that played nothing. An episode that failed counts as 0. */
export function meanScores(metrics: Metrics): MeanScores | null {
  const scores = { candidate: meanOf(metrics, 'candidate'), current: meanOf(metrics, 'current') }
  return scores.candidate === null && scores.current === null ? null : scores
}

function meanOf(metrics: Metrics, side: 'candidate' | 'current'): number | null {
  const sum = numberAt(metrics, `${side}_score`)
  return numberAt(metrics, `${side}_mean_score`) ?? (sum === null ? null : sum / episodesIn(metrics))
}

/** For a row that has sums alone. One that says nothing of how much was played counts as one episode. */
function episodesIn(metrics: Metrics): number {
  const total = (from: Metrics, ...keys: readonly string[]): number =>
    keys.reduce((sum, key) => sum + Math.max(0, numberAt(from, key) ?? 0), 0)
  const pairs = total(metrics, 'wins', 'losses', 'ties')
  if (pairs > 0) return pairs + total(objectAt(metrics, 'evidence_regression'), 'pairs')
  const repeats = total(metrics, 'episode_repeats')
  return total(metrics, 'passed', 'failed') || total(metrics, 'evaluation_task_count') * repeats || 1
}

function numberAt(metrics: Metrics, key: string): number | null {
  const value = metrics[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

function objectAt(metrics: Metrics, key: string): Metrics {
  const value = metrics[key]
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

const DECIMALS = 3

/** "0.75", "0.667", "1". What would read as 0 and is not keeps its first digit: "4e-5". */
export function scoreText(score: number): string {
  const rounded = Number(score.toFixed(DECIMALS))
  return rounded === 0 && score !== 0 ? score.toExponential(0) : String(rounded + 0)
}
