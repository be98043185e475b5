/** Asks an evaluator for a score: once more where it fails, and never takes what is no number. */
import type { Task } from '../contract/index.ts'
import { isMachines } from './episode-end.ts'

/** The evaluator returned something other than a number, or failed on every episode: the evaluation cannot be trusted. */
export class ScorerProblem extends Error {}

/** Scores the same episode once more where the evaluator failed: that gives no side another try at the task. */
export async function scoredOrAgain(score: () => Promise<number | null>, signal: AbortSignal): Promise<number | null> {
  try {
    const scored = await score()
    if (scored !== null) return scored
  } catch (error) {
    signal.throwIfAborted()
    if (isMachines(error, true)) throw error
  }
  return score()
}

export function checkedScore(task: Task, score: number | null): number | null {
  if (score === null || (typeof score === 'number' && Number.isFinite(score))) return score
  throw new ScorerProblem(`the evaluator answered ${String(score)} for task ${task.name}; a score is a finite number or null`)
}
