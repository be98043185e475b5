/**
 * The scores of a step as people read them: means per episode. A row has sums over its episodes, and two steps rarely play equally many.
 */
import { numberAt, objectAt, type UnknownRecord } from './read.ts'

export interface MeanScores {
  /** Null for a side that was not played. */
  readonly candidate: number | null
  readonly current: number | null
}

/** Null of a step that played nothing. An episode that failed counts as 0. */
export function meanScores(metrics: UnknownRecord): MeanScores | null {
  const scores = { candidate: meanOf(metrics, 'candidate'), current: meanOf(metrics, 'current') }
  return scores.candidate === null && scores.current === null ? null : scores
}

function meanOf(metrics: UnknownRecord, side: 'candidate' | 'current'): number | null {
  const sum = numberAt(metrics, `${side}_score`)
  return numberAt(metrics, `${side}_mean_score`) ?? (sum === null ? null : sum / episodesIn(metrics))
}

/** For a row that has sums alone. One that does not say how many episodes were played counts as one. */
function episodesIn(metrics: UnknownRecord): number {
  const pairs = total(metrics, 'wins', 'losses', 'ties')
  if (pairs > 0) return pairs + total(objectAt(metrics, 'evidence_regression'), 'pairs')
  const repeats = total(metrics, 'episode_repeats')
  return total(metrics, 'passed', 'failed') || total(metrics, 'evaluation_task_count') * repeats || 1
}

const total = (from: UnknownRecord, ...keys: readonly string[]): number =>
  keys.reduce((sum, key) => sum + Math.max(0, numberAt(from, key) ?? 0), 0)

const DECIMALS = 3

/** "0.75", "0.667", "1". What would read as 0 and is not keeps its first digit: "4e-5". */
export function scoreText(score: number): string {
  const rounded = Number(score.toFixed(DECIMALS))
  return rounded === 0 && score !== 0 ? score.toExponential(0) : String(rounded + 0)
}
