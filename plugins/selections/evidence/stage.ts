/** What the stages of an examination have in common: which pairs are theirs, what a pair says, how far they may go. */
import type { Draw, JsonObject, Pair, Question, Task, TaskRole } from '../../../src/contract/index.ts'
import type { Turn } from './superiority.ts'

export interface Stage {
  /** What to play next; empty once the stage is over. */
  readonly draws: readonly Draw[]
  readonly passed: boolean
  readonly reason: string
  /** Only the episodes ended. */
  readonly isOpen?: boolean
  /** The most that it would have played. */
  readonly episodesMax?: number
  /** Costs some work, so it is asked for with the decision alone. */
  readonly metrics: () => JsonObject
}

export const tasksOf = (question: Question, role: TaskRole): readonly Task[] => question.tasks.filter((task) => task.role === role)

export interface Seen {
  /** Its place among the stage's tasks. */
  readonly task: number
  readonly difference: number
  readonly weight: number
  /** What is served had a score to compare with. */
  readonly isCompared: boolean
}

export function seenOf(pairs: readonly Pair[], tasks: readonly Task[]): readonly Seen[] {
  const places = new Map(tasks.map(({ name }, place) => [name, place]))
  return pairs.flatMap((pair) => {
    const task = places.get(pair.task.name)
    return task === undefined ? [] : [{ task, difference: differenceOf(pair), weight: pair.weight ?? 1, isCompared: pair.current !== null }]
  })
}

/**
 * Scores count from 0 to 1. A candidate without a score did nothing; where the current side has none there is nothing to compare with,
 * or a candidate could win by keeping the other side from being scored.
 */
function differenceOf({ candidate, current }: Pair): number {
  return current === null ? 0 : within(candidate ?? 0) - within(current)
}
const within = (score: number): number => Math.min(1, Math.max(0, score))

export function countsOf(seen: readonly Seen[]): JsonObject {
  const wins = seen.filter(({ difference }) => difference > 0).length
  const losses = seen.filter(({ difference }) => difference < 0).length
  return { wins, losses, ties: seen.length - wins - losses }
}

export const drawsOf = (turns: readonly Turn[], tasks: readonly Task[]): readonly Draw[] =>
  turns.flatMap(({ task, repeat, weight }) => {
    const name = tasks[task]?.name
    return name === undefined ? [] : [{ task: name, repeat, weight }]
  })

const PAIRS_MAX = 1000
const REPEATS_MAX = 20
const PAIRS_OF_FEW_TASKS_MAX = 100

/** With what the step may still play beyond what is kept for later, and never more than can still be worth it. */
export function pairsMaxOf(tasks: number, played: number, { episodesLeft }: Question, pairsKept: number): number {
  const most = Math.min(PAIRS_MAX, Math.max(PAIRS_OF_FEW_TASKS_MAX, tasks * REPEATS_MAX))
  return episodesLeft === null ? most : Math.min(most, played + Math.max(0, Math.floor(episodesLeft / 2) - pairsKept))
}

/** Enough to draw what was seen; a row is not the place for everything. */
const DIFFERENCES_MAX = 240

/** Pair by pair, in the order played. */
export const differencesOf = (seen: readonly Seen[]): readonly number[] =>
  seen.slice(0, DIFFERENCES_MAX).map(({ difference }) => rounded(difference))

/** Rows are read by people. */
export const rounded = (value: number): number => Number(value.toFixed(4))
