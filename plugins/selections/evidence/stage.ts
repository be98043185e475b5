/** Shared by the stages of a test: their pairs, the difference of a pair, and their budget. */
import type { Draw, JsonObject, Pair, Question, Task, TaskRole } from '../../../src/contract/index.ts'
import type { PairDraw } from './superiority.ts'

export interface TestStage {
  /** What to play next; empty when the stage is over. */
  readonly draws: readonly Draw[]
  readonly passed: boolean
  readonly reason: string
  /** Undecided because the budget ended. */
  readonly isOpen?: boolean
  /** The most episodes it would have played. */
  readonly episodesMax?: number
  /** Lazy, since only the decision needs them. */
  readonly metrics: () => JsonObject
}

export const tasksOf = (question: Question, role: TaskRole): readonly Task[] => question.tasks.filter((task) => task.role === role)

export interface SeenPair {
  /** Its index among the stage's tasks. */
  readonly task: number
  readonly difference: number
  readonly weight: number
  /** Whether the current side has a score. */
  readonly isCompared: boolean
}

export function seenOf(pairs: readonly Pair[], tasks: readonly Task[]): readonly SeenPair[] {
  const places = new Map(tasks.map(({ name }, place) => [name, place]))
  return pairs.flatMap((pair) => {
    const task = places.get(pair.task.name)
    return task === undefined ? [] : [{ task, difference: differenceOf(pair), weight: pair.weight ?? 1, isCompared: pair.current !== null }]
  })
}

/** A candidate without a score counts as 0. Without a current score the difference is 0: a candidate must not win by preventing it. */
function differenceOf({ candidate, current }: Pair): number {
  return current === null ? 0 : within(candidate ?? 0) - within(current)
}
const within = (score: number): number => Math.min(1, Math.max(0, score))

export function countsOf(seen: readonly SeenPair[]): JsonObject {
  const wins = seen.filter(({ difference }) => difference > 0).length
  const losses = seen.filter(({ difference }) => difference < 0).length
  return { wins, losses, ties: seen.length - wins - losses }
}

export const drawsOf = (turns: readonly PairDraw[], tasks: readonly Task[]): readonly Draw[] =>
  turns.flatMap(({ task, repeat, weight }) => {
    const name = tasks[task]?.name
    return name === undefined ? [] : [{ task: name, repeat, weight }]
  })

const PAIRS_MAX = 1000
const REPEATS_MAX = 20
const PAIRS_OF_FEW_TASKS_MAX = 100

/** What the budget allows beyond the reserved pairs, up to a limit by the number of tasks. */
export function pairsMaxOf(tasks: number, played: number, { episodesLeft }: Question, pairsKept: number): number {
  const most = Math.min(PAIRS_MAX, Math.max(PAIRS_OF_FEW_TASKS_MAX, tasks * REPEATS_MAX))
  return episodesLeft === null ? most : Math.min(most, played + Math.max(0, Math.floor(episodesLeft / 2) - pairsKept))
}

/** How many differences a row keeps for drawing. */
const DIFFERENCES_MAX = 240

export const differencesOf = (seen: readonly SeenPair[]): readonly number[] =>
  seen.slice(0, DIFFERENCES_MAX).map(({ difference }) => rounded(difference))

/** For display. */
export const rounded = (value: number): number => Number(value.toFixed(4))
