/** What the rows say about one trainer: its state, how far it has read, how its latest steps went. All of it is read off them, none is kept. */
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

/** What of a row's metrics the steps after it are decided by: of a request that there was one. Small, whatever the method wrote beside it. */
export function decidingMetrics(metrics: JsonObject): JsonObject {
  const { skipped, samples_beside, samples_kept, training_request } = metrics
  return {
    ...(skipped === SKIPPED.step && { skipped }),
    ...(samples_beside !== undefined && { samples_beside }),
    ...(samples_kept !== undefined && { samples_kept }),
    ...(training_request !== undefined && { training_request: {} }),
  }
}

const failedBecause = ({ outcome, metrics }: Commit, why: string): boolean => outcome === 'failed' && metrics['skipped'] === why

/** Whether units of traffic were tried: by themselves, or beside an instruction. */
export const isOnTraffic = ({ metrics }: Commit): boolean =>
  metrics['training_request'] === undefined || metrics['samples_beside'] !== undefined

/** Steps on traffic that failed one after another up to now, on the same units each time. Instructions without units beside them do not count. */
export function failuresInARow(rows: readonly Commit[]): number {
  return countBack(rows, isOnTraffic, (row) => !failedBecause(row, SKIPPED.step))
}

/** How many of these rows come after the latest that ends the count, from the newest back and no further than that. */
function countBack(rows: readonly Commit[], isCounted: (row: Commit) => boolean, isEnd: (row: Commit) => boolean, most = Infinity): number {
  let count = 0
  for (let at = rows.length - 1; at >= 0 && count < most; at -= 1) {
    const row = rows[at]
    if (row === undefined || !isCounted(row)) continue
    if (isEnd(row)) break
    count += 1
  }
  return count
}

/** How often in a row units may be suspected before they no longer ride. */
const SUSPECTED_MAX = 2

/** Units that rode beside instructions that failed may be why: after the second time they wait for a step of their own, which settles them. */
export function mayRide(rows: readonly Commit[]): boolean {
  return countBack(rows, (row) => isSuspected(row) || isSettled(row), isSettled, SUSPECTED_MAX) < SUSPECTED_MAX
}

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
export function exhausted(rows: readonly Commit[], { maxSteps, maxFailureStreak }: Budgets): string | null {
  if (maxSteps > 0 && rows.length >= maxSteps) return `evolution.max_steps (${maxSteps}) is used up`
  if (maxFailureStreak > 0 && failureStreak(rows, maxFailureStreak) >= maxFailureStreak)
    return `evolution.max_failure_streak (${maxFailureStreak}) steps in a row brought nothing better`
  return null
}

/** A step that had nothing to try neither ends the streak nor lengthens it. */
function failureStreak(rows: readonly Commit[], most: number): number {
  return countBack(
    rows,
    ({ outcome }) => outcome !== 'skipped',
    ({ outcome }) => outcome === 'published' || outcome === 'pending',
    most,
  )
}
