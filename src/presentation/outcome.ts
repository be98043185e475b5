/** The outcome of a step: its word, its title on the version page, and what it means. */
import type { Operation, OutcomeWord, StepOutcome } from '../contract/index.ts'
import { STEP_OUTCOMES, STEP_RESULTS, type OutcomeTitle } from '../contract/outcomes.ts'
import { promotionOf, rejectionOf, type StepRow, type StepRows } from './chain.ts'

/** How a word is coloured: each renderer has its own colour for a tone. */
export type StepTone = 'good' | 'warn' | 'bad' | 'plain'

export interface StepStatus {
  readonly outcome: OutcomeWord
  /** "Held", "Starting point", "Promoted" */
  readonly word: string
  /** The words of the version page in its place, which the interface fixes: "Ready for review". */
  readonly title: OutcomeTitle
  readonly tone: StepTone
  readonly meaning: string
}

export function statusOf(rows: StepRows, row: StepRow): StepStatus {
  const status = OUTCOMES[row.result]
  const promotion = promotionOf(rows, row)
  if (promotion !== undefined)
    return { ...status, word: 'Promoted', title: `Promoted at step ${promotion.step}`, tone: 'good', meaning: PROMOTED }
  if (rejectionOf(rows, row) !== undefined)
    return { ...status, ...NOT_SELECTED, word: 'Rejected by a person', tone: 'bad', meaning: REJECTED }
  if (row.provisional !== undefined) return { ...status, ...(row.provisional ? UNPROVEN : UNPROVEN_ENDED) }
  return row.pending ? status : { ...status, ...BY_HAND[row.operation] }
}

/** A change that was held and will not be served. */
const NOT_SELECTED = { title: STEP_OUTCOMES.rejected.title } as const

const UNPROVEN: Partial<StepStatus> = {
  word: 'Provisional',
  tone: 'warn',
  meaning: 'The candidate looks better after one round and is not proved yet. It is served to nobody who does not take unproven releases.',
}
const UNPROVEN_ENDED: Partial<StepStatus> = {
  ...NOT_SELECTED,
  word: 'Provisional, ended',
  tone: 'plain',
  meaning: 'The candidate was the provisional release for a while, unproven. A later step says what became of it.',
}

const PROMOTED = 'The candidate was held for review and promoted by a person.'
const REJECTED = 'The candidate was held for review and rejected by a person. The served release stays live.'

/** Rows that no training step made. */
const BY_HAND: Readonly<Partial<Record<Operation, Partial<StepStatus>>>> = {
  create: { word: 'Starting point', tone: 'plain', meaning: 'What this scenario was created with.' },
  promote: { meaning: 'A person promoted a release that was held for review.' },
  rollback: { meaning: 'A person put an earlier release back.' },
  shipped: { meaning: 'The service updated the entries that it ships.' },
  comment: { word: 'Comment', meaning: 'A person said something of a release that was held for review. Nothing changed.' },
  reject: {
    word: 'Rejected by a person',
    meaning: 'A person rejected a release that was held for review. The served release stays live.',
  },
  withdraw: { word: 'Withdrawn', meaning: 'The provisional release was withdrawn. The served release stays live.' },
}

const outcome = (result: StepOutcome, tone: StepTone, meaning: string): StepStatus => {
  const { word, title } = STEP_OUTCOMES[result]
  return { outcome: word, word: word.slice(0, 1).toUpperCase() + word.slice(1), title, tone, meaning }
}

/** The status of a training step by its result. */
export const OUTCOMES: Readonly<Record<StepOutcome, StepStatus>> = {
  published: outcome('published', 'good', 'The candidate was selected and went live.'),
  pending: outcome('pending', 'warn', 'The candidate waits for the review of a person. Not live until promoted.'),
  rejected: outcome('rejected', 'plain', 'The candidate was not selected. The served release stays live.'),
  skipped: outcome('skipped', 'plain', 'There was no candidate to try. The served release stays live.'),
  failed: outcome('failed', 'bad', 'The step failed before it had a candidate to serve. The served release stays live.'),
}

/** The states of a request on its way, as the progress route has them. */
const STATES: Readonly<Record<string, RequestStatus>> = {
  queued: { word: 'Queued', tone: 'plain' },
  running: { word: 'In progress', tone: 'busy' },
  proposing: { word: 'Designing the change', tone: 'busy' },
  evaluating: { word: 'Checking the harness', tone: 'busy' },
  settling: { word: 'Saving the result', tone: 'busy' },
}

export interface RequestStatus {
  readonly word: string
  readonly tone: StepTone | 'busy'
}

/** The status of a request by its state; once it is settled, the state is the result of its step. */
export function requestStatus(state: string): RequestStatus {
  const result = STEP_RESULTS.find((each) => each === state)
  return result === undefined ? (STATES[state] ?? { word: state, tone: 'busy' }) : OUTCOMES[result]
}

export const REQUEST_STAGES = ['Received', 'Processing', 'Recording', 'Outcome'] as const

/** Which of the stages a request is at. */
export function stageOf({ settled, state }: { readonly settled: boolean; readonly state: string }): number {
  if (settled) return REQUEST_STAGES.length - 1
  return { queued: 0, settling: 2 }[state] ?? 1
}
