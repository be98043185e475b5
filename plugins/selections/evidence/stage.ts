/** Shared by the stages of a test: their pairs, the difference of a pair, and their budget. */
import { invalid, type Draw, type JsonObject, type Pair, type Question, type Task, type TaskRole } from '../../../src/contract/index.ts'
import { clamp, counted } from '../../../src/kit/index.ts'
import type { FamilyTally } from './signs.ts'
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
  /** Of the scores alone. */
  readonly scoreDifference: number
  readonly weight: number
  /** Whether the current side has a score. */
  readonly isCompared: boolean
  /** Whether a score is other than 0 and 1. */
  readonly isGraded: boolean
}

/** `judged`: by its scores, or by all that counts. */
export function seenOf(pairs: readonly Pair[], tasks: readonly Task[], judged: 'score' | 'gain' = 'score'): readonly SeenPair[] {
  const places = new Map(tasks.map(({ name }, place) => [name, place]))
  return pairs.flatMap((pair) => {
    const task = places.get(pair.task.name)
    if (task === undefined) return []
    const isGraded = [pair.current, pair.candidate].some((score) => score !== null && score > 0 && score < 1)
    const scoreDifference = differenceOf(pair)
    const gain = judged === 'gain' ? pair.gain : undefined
    const seen = { task, scoreDifference, weight: pair.weight ?? 1, isCompared: pair.current !== null }
    return gain === undefined
      ? [{ ...seen, difference: scoreDifference, isGraded }]
      : [{ ...seen, difference: clamp(gain, -1, 1), isGraded: true }]
  })
}

/** A candidate without a score counts as 0. Without a current score the difference is 0: a candidate must not win by preventing it. */
function differenceOf({ candidate, current }: Pair): number {
  return current === null ? 0 : clamp(candidate ?? 0, 0, 1) - clamp(current, 0, 1)
}

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

/** Of one test. */
export const PAIRS_MAX = 1000
const REPEATS_MAX = 20
const PAIRS_OF_FEW_TASKS_MAX = 400

/** What the budget allows beyond the reserved pairs, up to a limit by the number of tasks. */
export function pairsMaxOf(
  tasks: number,
  played: number,
  { episodesLeft }: Question,
  pairsKept: number,
  ofFewTasks = PAIRS_OF_FEW_TASKS_MAX,
): number {
  const most = Math.min(PAIRS_MAX, Math.max(ofFewTasks, tasks * REPEATS_MAX))
  return episodesLeft === null ? most : Math.min(most, played + Math.max(0, Math.floor(episodesLeft / 2) - pairsKept))
}

/** How many differences a row keeps for drawing. */
const DIFFERENCES_MAX = 240

export const differencesOf = (seen: readonly SeenPair[]): readonly number[] =>
  seen.slice(0, DIFFERENCES_MAX).map(({ difference }) => rounded(difference))

/** For display. */
export const rounded = (value: number): number => Number(value.toFixed(4))

export interface EvidenceSettings {
  /** The probability of a false publication in fifty decisions. */
  readonly alpha: number
  /** How much worse the mean score may be to count as not worse. */
  readonly margin: number
  /** How many of the tasks without a family may be alike. */
  readonly alike: number
}

const ALPHA_DEFAULT = 0.05
const ALPHA_MAX = 0.5
const MARGIN_DEFAULT = 0.1
const MARGIN_MAX = 1
const ALIKE_DEFAULT = 1
const ALIKE_MAX = 100

export function readSettings({
  alpha = ALPHA_DEFAULT,
  margin = MARGIN_DEFAULT,
  tasks_alike = ALIKE_DEFAULT,
}: JsonObject): EvidenceSettings {
  if (!Number.isSafeInteger(tasks_alike)) throw invalid('bad_setting', 'evolution.tasks_alike must be a whole number')
  return {
    alpha: upTo(ALPHA_MAX, 'alpha', alpha),
    margin: upTo(MARGIN_MAX, 'margin', margin),
    alike: upTo(ALIKE_MAX, 'tasks_alike', tasks_alike),
  }
}

function upTo(most: number, key: string, value: unknown): number {
  if (typeof value !== 'number' || !(value > 0 && value <= most))
    throw invalid('bad_setting', `evolution.${key} must be a number above 0 and at most ${most}`)
  return value
}

const EVIDENCE_MAX = 1e12
/** Bounded, since JSON has no infinity. */
export const evidenceOf = (log: number): number => Number(Math.min(EVIDENCE_MAX, Math.exp(log)).toPrecision(6))

/** "better on 9 of 12 tasks, worse on none"; families, where there are fewer of them. */
export function standing(tallies: readonly FamilyTally[], tasks: number): string {
  const better = tallies.filter(({ sum }) => sum > 0).length
  const worse = tallies.filter(({ sum }) => sum < 0).length
  return `better on ${better} of ${units(tallies.length, tasks)}, worse on ${worse === 0 ? 'none' : worse}`
}

/** "12 families" where tasks are alike, else "12 tasks". */
export const units = (families: number, tasks: number): string =>
  families === tasks ? counted(tasks, 'task') : `${families} ${families === 1 ? 'family' : 'families'}`

/** "the evidence is strong enough (1 in 412 by luck, 1 in 41 needed)" */
export function weighed(log: number, threshold: number): string {
  const strength = log >= threshold ? 'strong enough' : 'not strong enough'
  return `the evidence is ${strength} (${log > 0 ? `1 in ${shown(log)} by luck` : 'none so far'}, 1 in ${shown(threshold)} needed)`
}

/** How many more episodes it would take at the rate seen. */
export function outlook(log: number, threshold: number, episodes: number): string {
  if (log <= 0 || episodes === 0) return 'the pairs so far show no gain'
  return `at this rate it would take about ${counted(Math.ceil((episodes * (threshold - log)) / log), 'more episode')}`
}

function shown(log: number): string {
  const evidence = evidenceOf(log)
  return evidence >= 10 ? Math.round(evidence).toString() : evidence.toPrecision(2)
}
