/** What the rows say about one trainer: its state, how far it has read, how its latest steps went. All of it is read off them. */
import { isObject, STEP_RETRY_FIRST_SECONDS, STEP_RETRY_MAX_SECONDS, type Commit, type JsonObject } from '../contract/index.ts'

/** Why a step came to nothing, as the rows spell it. */
export const SKIPPED = {
  instruction: 'instruction failed',
  step: 'step failed',
  setAside: 'batch set aside after repeated failures',
  unchanged: 'nothing changed',
} as const

/** What a training row keeps for the next step and for the next start. */
export interface TrainerMemory {
  /** Traffic up to this sequence is settled. */
  readonly settled_through: number
  /** How many records could not be used so far, by reason. */
  readonly set_aside: Readonly<Record<string, number>>
  /** What the method left for itself. */
  readonly trainer: JsonObject
}

/** Of the latest row of a trainer, where there is one. */
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

/** What the house itself writes into a row's metrics and decides by: a trainer's own words under these names are not kept. */
export const HOUSE_METRICS: ReadonlySet<string> = new Set([
  'skipped',
  'training_request',
  'samples_beside',
  'samples_kept',
  'merged_onto',
  'records/evicted_count',
  'records/data_incomplete',
])

/** All that the next step is decided by of the rows of one trainer: of the same size however many there are. */
export interface Tally {
  readonly steps: number
  /** Steps on traffic that failed one after another up to now, on the same units each time. Instructions without units beside them do not count. */
  readonly failures: number
  /** Steps one after another that brought nothing better. One that had nothing to try neither ends them nor is one of them. */
  readonly streak: number
  /** How often units rode beside an instruction that failed, since a step of their own settled them. */
  readonly suspicions: number
  /** When the latest step on traffic was recorded. */
  readonly triedAt: number
}

export const NO_STEPS: Tally = { steps: 0, failures: 0, streak: 0, suspicions: 0, triedAt: 0 }

/** The same with one more row, the newest. */
export function tallied(tally: Tally, row: Commit): Tally {
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

const isBetter = ({ outcome }: Commit): boolean => outcome === 'published' || outcome === 'pending'

const failedBecause = ({ outcome, metrics }: Commit, why: string): boolean => outcome === 'failed' && metrics['skipped'] === why

/** Whether units of traffic were tried: by themselves, or beside an instruction. */
export const isOnTraffic = ({ metrics }: Commit): boolean =>
  metrics['training_request'] === undefined || metrics['samples_beside'] !== undefined

/** How often in a row units may be suspected before they no longer ride. */
const SUSPECTED_MAX = 2

/** Units that rode beside instructions that failed may be why: after the second time they wait for a step of their own, which settles them. */
export const mayRide = ({ suspicions }: Tally): boolean => suspicions < SUSPECTED_MAX

const isSettled = (row: Commit): boolean => row.metrics['training_request'] === undefined && !failedBecause(row, SKIPPED.step)
const isSuspected = ({ metrics }: Commit): boolean => metrics['samples_kept'] !== undefined

/** How long a trainer rests after so many failures in a row. */
export function restSeconds(failures: number): number {
  return failures === 0 ? 0 : Math.min(STEP_RETRY_FIRST_SECONDS * 4 ** (failures - 1), STEP_RETRY_MAX_SECONDS)
}

/** Why a step failed, in the words of its row; null for one that did not. */
export function errorIn({ outcome, metrics }: Commit): string | null {
  return outcome === 'failed' ? (failureIn(metrics) ?? 'no reason was given') : null
}

/** A failure that a method tells of in its metrics. */
export function failureIn({ error, proposal_notes: notes }: JsonObject): string | null {
  const told = [error, isObject(notes) ? notes['failure'] : undefined]
  return told.filter((text) => typeof text === 'string').find((text) => text.trim() !== '') ?? null
}

export interface Budgets {
  /** 0: no limit. */
  readonly maxSteps: number
  readonly maxFailureStreak: number
}

/** Why no automatic step may start any more, or null. Every step counts, those of instructions too; instructions run past it. */
export function exhausted({ steps, streak }: Tally, { maxSteps, maxFailureStreak }: Budgets): string | null {
  if (maxSteps > 0 && steps >= maxSteps) return `evolution.max_steps (${maxSteps}) is used up`
  if (maxFailureStreak > 0 && streak >= maxFailureStreak)
    return `evolution.max_failure_streak (${maxFailureStreak}) steps in a row brought nothing better`
  return null
}
