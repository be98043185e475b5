/** What the rows say about one trainer: its state, its reading position, and its latest steps. */
import {
  isObject,
  PROVISIONAL_ENDED_METRIC,
  PROVISIONAL_METRIC,
  provisionalGain,
  STEP_RETRY_FIRST_SECONDS,
  STEP_RETRY_MAX_SECONDS,
  type Commit,
  type JsonObject,
} from '../contract/index.ts'

/** The reasons that rows give for a step without a result. */
export const SKIPPED = {
  instruction: 'instruction failed',
  step: 'step failed',
  setAside: 'batch set aside after repeated failures',
  unchanged: 'nothing changed',
  rejected: 'a person rejected this content',
} as const

/** What a training row keeps for the next step and the next start. */
export interface TrainerMemory {
  /** Traffic up to this sequence is settled. */
  readonly settled_through: number
  /** How many records could not be used, by reason. */
  readonly set_aside: Readonly<Record<string, number>>
  /** The method's own state. */
  readonly trainer: JsonObject
}

export function memoryOf(latest: Pick<Commit, 'state'> | undefined): TrainerMemory {
  const { settled_through, set_aside, trainer } = latest?.state ?? {}
  return {
    settled_through: typeof settled_through === 'number' ? settled_through : 0,
    set_aside: isObject(set_aside) ? countsIn(set_aside) : {},
    trainer: isObject(trainer) ? trainer : {},
  }
}

function countsIn(counts: JsonObject): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).flatMap(([reason, count]) => (typeof count === 'number' ? [[reason, count]] : [])))
}

/** Metrics that the service itself writes and decides by: a trainer's values under these names are dropped. */
export const RESERVED_METRICS: ReadonlySet<string> = new Set([
  'skipped',
  'training_request',
  'samples_beside',
  'samples_kept',
  'merged_onto',
  PROVISIONAL_METRIC,
  PROVISIONAL_ENDED_METRIC,
  'records/evicted_count',
  'records/data_incomplete',
])

/** Running totals of one trainer's rows: all that the next step is decided by, in constant size. */
export interface TrainerTally {
  readonly steps: number
  /** Consecutive failed steps on traffic, each on the same units. Instructions without units beside them do not count. */
  readonly failures: number
  /** Consecutive steps without an improvement. A skipped step neither counts nor ends the streak. */
  readonly streak: number
  /** How often units stood beside an instruction that failed, since a step of their own settled them. */
  readonly suspicions: number
  /** When the latest step on traffic was recorded. */
  readonly triedAt: number
}

export const NO_STEPS: TrainerTally = { steps: 0, failures: 0, streak: 0, suspicions: 0, triedAt: 0 }

/** Adds one row, the newest. */
export function tallied(tally: TrainerTally, row: Commit): TrainerTally {
  const { steps, failures, streak, suspicions, triedAt } = tally
  const isTried = isOnTraffic(row)
  return {
    steps: steps + 1,
    failures: isTried ? (failedBecause(row, SKIPPED.step) ? failures + 1 : 0) : failures,
    streak: row.outcome === 'skipped' ? streak : isBetter(row) ? 0 : streak + 1,
    suspicions: isSettled(row) ? 0 : isSuspected(row) ? suspicions + 1 : suspicions,
    triedAt: isTried ? row.recorded_at : triedAt,
  }
}

/** What only seems better so far is no improvement yet. */
const isBetter = (row: Commit): boolean => row.outcome === 'published' || (row.outcome === 'pending' && provisionalGain(row) === null)

const failedBecause = ({ outcome, metrics }: Commit, why: string): boolean => outcome === 'failed' && metrics['skipped'] === why

/** Whether the step tried units of traffic, alone or beside an instruction. */
export const isOnTraffic = ({ metrics }: Commit): boolean =>
  metrics['training_request'] === undefined || metrics['samples_beside'] !== undefined

/** How often units may be suspected before they no longer stand beside instructions. */
const SUSPECTED_MAX = 2

/** Units beside failing instructions may be the cause: after the second time they wait for a step of their own. */
export const mayRide = ({ suspicions }: TrainerTally): boolean => suspicions < SUSPECTED_MAX

const isSettled = (row: Commit): boolean => row.metrics['training_request'] === undefined && !failedBecause(row, SKIPPED.step)
const isSuspected = ({ metrics }: Commit): boolean => metrics['samples_kept'] !== undefined

/** The rest after so many consecutive failures. */
export function restSeconds(failures: number): number {
  return failures === 0 ? 0 : Math.min(STEP_RETRY_FIRST_SECONDS * 4 ** (failures - 1), STEP_RETRY_MAX_SECONDS)
}

/** Why a step failed, as its row says; null for one that did not. */
export function errorIn({ outcome, metrics }: Commit): string | null {
  return outcome === 'failed' ? (failureIn(metrics) ?? 'no reason was given') : null
}

/** The failure that a method reports in its metrics. */
export function failureIn({ error, proposal_notes: notes }: JsonObject): string | null {
  const texts = [error, isObject(notes) ? notes['failure'] : undefined]
  return texts.filter((text) => typeof text === 'string').find((text) => text.trim() !== '') ?? null
}

export interface Budgets {
  /** 0: no limit. */
  readonly maxSteps: number
  readonly maxFailureStreak: number
}

/** Why no automatic step may start any more, or null. Steps of instructions count too, but instructions may still start. */
export function exhausted({ steps, streak }: TrainerTally, { maxSteps, maxFailureStreak }: Budgets): string | null {
  if (maxSteps > 0 && steps >= maxSteps) return `evolution.max_steps (${maxSteps}) is used up`
  if (maxFailureStreak > 0 && streak >= maxFailureStreak)
    return `evolution.max_failure_streak (${maxFailureStreak}) steps in a row brought nothing better`
  return null
}
