/** A scenario's chain of steps: which row is served, what became of a held release, which row made a release, what may be done with it. */
import type { Operation, StepOutcome } from '../contract/index.ts'
import { meanScores } from './scores.ts'
import type { UnknownRecord } from './read.ts'

/** What the presentation needs of a row, by shape: rows of the catalog and of the client fit it. */
export interface StepRow {
  readonly step: number
  /** Seconds since the epoch. */
  readonly recorded_at: number
  readonly operation: Operation
  readonly result: StepOutcome
  readonly pending: boolean
  /** On a row that made a provisional release: whether it is still that of the scenario. */
  readonly provisional?: boolean
  readonly release_id: string
  readonly rollback_target_release_id?: string
  readonly metrics: UnknownRecord
}

/** The rows of a scenario in any order; those that made no release may be left out. */
export type StepRows<Row extends StepRow = StepRow> = readonly Row[]

/** A step that made no release of its own is listed with the release it ran on. */
export const madeRelease = ({ result }: Pick<StepRow, 'result'>): boolean => result === 'published' || result === 'pending'

/** The row that made a release. */
export const makerOf = <Row extends StepRow>(rows: StepRows<Row>, releaseId: string | null | undefined): Row | undefined =>
  rows.find((row) => row.release_id === releaseId && madeRelease(row))

/** The row by which a held release was promoted. */
export const promotionOf = <Row extends StepRow>(rows: StepRows<Row>, { pending, release_id }: StepRow): Row | undefined =>
  pending ? rows.find((row) => row.operation === 'promote' && row.rollback_target_release_id === release_id) : undefined

/** The row by which a person rejected a held release. */
export const rejectionOf = <Row extends StepRow>(rows: StepRows<Row>, { pending, release_id }: StepRow): Row | undefined =>
  pending ? rows.find((row) => row.operation === 'reject' && row.rollback_target_release_id === release_id) : undefined

/** What people said of a held release, oldest first. */
export const commentsOn = <Row extends StepRow>(rows: StepRows<Row>, { pending, release_id }: StepRow): readonly Row[] =>
  pending
    ? rows
        .filter((row) => row.operation === 'comment' && row.rollback_target_release_id === release_id)
        .toSorted((one, other) => one.step - other.step)
    : []

/** Whether a person may comment on it: it is or was held for review. */
export const isCommentable = ({ pending, provisional }: StepRow): boolean => pending && provisional === undefined

const isReviewed = (rows: StepRows, row: StepRow): boolean => promotionOf(rows, row) !== undefined || rejectionOf(rows, row) !== undefined

/** Releases that wait for review: held, and neither promoted nor rejected since. A provisional one waits for its proof instead. */
export const heldRows = <Row extends StepRow>(rows: StepRows<Row>): readonly Row[] =>
  rows.filter((row) => row.pending && row.provisional === undefined && !isReviewed(rows, row))

/** The row of the provisional release there is now. */
export const provisionalRow = <Row extends StepRow>(rows: StepRows<Row>): Row | undefined =>
  rows.find(({ provisional }) => provisional === true)

export type StepMove = 'promote' | 'rollback'

export interface MovableRow extends StepRow {
  readonly restorable: boolean
  readonly current: boolean
  readonly content_id: string
}

/** What a person may do with a step now. Content that is served already is not offered. */
export function moveOf(rows: StepRows<MovableRow>, row: MovableRow): StepMove | null {
  if (row.pending) return row.provisional !== false && !isReviewed(rows, row) ? 'promote' : null
  const served = rows.find(({ current }) => current)
  return row.restorable && madeRelease(row) && !row.current && served?.content_id !== row.content_id ? 'rollback' : null
}

/** Whether a person may reject it now. */
export const isRejectable = (rows: StepRows, row: StepRow): boolean => heldRows(rows).includes(row)

/** How the row stands to the release that it is listed with. */
export function releaseWord(row: StepRow): 'Release' | 'Rejects' | 'About' | 'Ran on' {
  if (madeRelease(row)) return 'Release'
  if (row.operation === 'comment') return 'About'
  return row.operation === 'reject' ? 'Rejects' : 'Ran on'
}

/** The mean scores of the releases that training published, oldest first, after the score before the first of them. Takes rows newest first. */
export function publishedScores(rows: StepRows, most: number): readonly number[] {
  const trained = rows
    .filter(({ operation, result }) => operation === 'train' && result === 'published')
    .slice(0, most)
    .toReversed()
  const scored = trained.flatMap(({ metrics }) => meanScores(metrics) ?? [])
  const before = trained[0] === undefined ? null : (meanScores(trained[0].metrics)?.current ?? null)
  return [before, ...scored.map(({ candidate }) => candidate)].filter((score) => score !== null)
}

/** Of a move: which gateways do not serve it yet, as one line; null where all do. */
export function behindLine(behind: readonly string[] | null): string | null {
  if (behind === null) return 'whether every gateway serves it is not known: the database did not answer'
  if (behind.length === 0) return null
  return `not served yet by ${behind.join(', ')}, which ${behind.length === 1 ? 'follows as soon as it answers' : 'follow as soon as they answer'}`
}
