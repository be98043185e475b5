/** The chain of a scenario's steps as people read it: what each came to, why, by which scores, and what may be done with it. Pure. */
import type { CatalogRow, ReleaseRow } from '@svc-ai/client'
import { meanScores, type MeanScores } from '@svc-ai/client/scores'
import type { Tone } from '../ui/badge.tsx'
import type { PlotSeries } from '../ui/plot-layout.ts'
import { dataAt, textAt, type Data } from './json.ts'

export interface Step {
  readonly row: ReleaseRow
  /** What the view of the step goes by: its place in the catalog where there are files, else its number. */
  readonly id: string
  /** "v3" where there are files, else "step 3". */
  readonly name: string
  /** Of the page that anybody may be sent; null where there is none. */
  readonly pagePath: string | null
}
export interface Chain {
  /** Newest first. */
  readonly steps: readonly Step[]
  readonly head: Step | null
  /** Whether clients pull files from the scenario, so that versions can be compared. */
  readonly hasFiles: boolean
}

/** Of a scenario that serves files: the catalog, oldest first. */
export function chainOfCatalog(rows: readonly CatalogRow[]): Chain {
  const steps = rows.map((row, place) => ({ row, id: String(place), name: `v${place}`, pagePath: localPath(row.page_path) }))
  return { steps: steps.toReversed(), head: headOf(steps), hasFiles: true }
}

/** Of any other: its releases, newest first. */
export function chainOfReleases(rows: readonly ReleaseRow[]): Chain {
  const steps = rows.map((row) => ({ row, id: String(row.step), name: `step ${row.step}`, pagePath: null }))
  return { steps, head: headOf(steps), hasFiles: false }
}

const headOf = (steps: readonly Step[]): Step | null => steps.find(({ row }) => row.current) ?? null

/** A link may lead to a page of this very service and nowhere else. */
const localPath = (path: string): string | null => (/^\/(?!\/)/.test(path) ? path : null)

export interface Status {
  readonly word: string
  readonly tone: Tone
  readonly meaning: string
}

export function statusOf(chain: Chain, { row }: Step): Status {
  const promotion = promotionOf(chain, row)
  if (promotion !== undefined)
    return { word: `Promoted at ${promotion.name}`, tone: 'good', meaning: 'It was held for review, and a person promoted it.' }
  return BY_HAND[row.operation] ?? RESULTS[row.result] ?? { word: row.result, tone: 'plain', meaning: '' }
}

const BY_HAND: Readonly<Record<string, Status>> = {
  create: { word: 'Starting point', tone: 'plain', meaning: 'What this scenario was created with.' },
  promote: { word: 'Published', tone: 'good', meaning: 'A person promoted a release that was held for review.' },
  rollback: { word: 'Published', tone: 'good', meaning: 'A person put an earlier release back.' },
  shipped: { word: 'Published', tone: 'good', meaning: 'The service brought the entries that it ships up to date.' },
}

export const RESULTS: Readonly<Record<string, Status>> = {
  published: { word: 'Published', tone: 'good', meaning: 'The candidate was selected and became what is served.' },
  pending: {
    word: 'Ready for review',
    tone: 'warn',
    meaning: 'The candidate was selected. Nobody is served it before a person promotes it.',
  },
  rejected: { word: 'Not selected', tone: 'plain', meaning: 'There was a candidate, and it was not selected. What was served still is.' },
  skipped: { word: 'No changes', tone: 'plain', meaning: 'There was no candidate to try. What was served still is.' },
  failed: { word: 'Failed', tone: 'bad', meaning: 'The step failed before there was anything to serve. What was served still is.' },
}

function promotionOf({ steps }: Chain, { pending, release_id }: ReleaseRow): Step | undefined {
  return pending ? steps.find(({ row }) => row.operation === 'promote' && row.rollback_target_release_id === release_id) : undefined
}

/** A step that made no release of its own is listed with the one it ran on. */
export const madeRelease = ({ row: { result } }: Step): boolean => result === 'published' || result === 'pending'

export type Move = 'promote' | 'rollback'

/** What a person may do with it now. What is served already, or would be served the same, is not offered. */
export function moveOf(chain: Chain, step: Step): Move | null {
  const { pending, restorable, current, content_id } = step.row
  if (pending) return promotionOf(chain, step.row) === undefined ? 'promote' : null
  const isSame = current || chain.head?.row.content_id === content_id
  return restorable && madeRelease(step) && !isSame ? 'rollback' : null
}

/** The step that made a release; those that only ran on it come later under the same id. */
export const madeBy = ({ steps }: Chain, releaseId: string | null | undefined): Step | undefined =>
  releaseId === null || releaseId === undefined ? undefined : steps.find((step) => step.row.release_id === releaseId && madeRelease(step))

export interface Why {
  /** Who or what wanted it. */
  readonly from: string
  /** In their own words; null where there are none. */
  readonly text: string | null
}

export function whyOf(chain: Chain, { row }: Step): Why {
  const metrics: Data = row.metrics
  const asked = textAt(dataAt(metrics, 'training_request'), 'text')
  if (asked !== null) return { from: 'Asked for', text: asked }
  const proposed = dataAt(metrics, 'proposal')
  if (Object.keys(proposed).length > 0) return { from: 'Proposed by an agent', text: textAt(proposed, 'reason') }
  const target = madeBy(chain, row.rollback_target_release_id)?.name ?? 'an earlier release'
  switch (row.operation) {
    case 'create':
      return { from: 'Creation', text: null }
    case 'promote':
      return { from: `A person promoted ${target}`, text: null }
    case 'rollback':
      return { from: `A person put ${target} back`, text: null }
    case 'shipped':
      return { from: 'Shipped with the service', text: null }
    default:
      return { from: 'Learned from traffic', text: null }
  }
}

/** Why it came out as it did: the decision, or what kept the step from one. */
export function outcomeOf({ row: { metrics } }: Step): string | null {
  const data: Data = metrics
  const failure = textAt(data, 'error') ?? textAt(dataAt(data, 'proposal_notes'), 'failure')
  const skipped = textAt(data, 'skipped')
  if (failure !== null) return skipped === null ? failure : `${skipped}: ${failure}`
  return textAt(dataAt(data, 'selection'), 'reason') ?? skipped
}

export const numberAt = (value: Data, key: string): number | null => {
  const member = value[key]
  return typeof member === 'number' && Number.isFinite(member) ? member : null
}

export interface Scores extends MeanScores {
  readonly wins: number | null
  readonly losses: number | null
  readonly ties: number | null
}

/** Null of a step that played nothing. */
export function scoresOf({ row: { metrics } }: Step): Scores | null {
  const scores = meanScores(metrics)
  if (scores === null) return null
  return { ...scores, wins: numberAt(metrics, 'wins'), losses: numberAt(metrics, 'losses'), ties: numberAt(metrics, 'ties') }
}

/** Both sides of every step that was played, over the steps. */
export function scoreSeries(chain: Chain): readonly PlotSeries[] {
  const played = chain.steps.toReversed().flatMap((step) => {
    const scores = scoresOf(step)
    return scores === null ? [] : [{ x: step.row.step, label: `${step.name}, ${statusOf(chain, step).word}`, scores }]
  })
  const side = (name: 'candidate' | 'current') =>
    played.flatMap(({ x, label, scores }) => (scores[name] === null ? [] : [{ x, y: scores[name], label }]))
  const series: readonly PlotSeries[] = [
    { name: 'candidate', tone: 'accent', points: side('candidate') },
    { name: 'served then', tone: 'plain', points: side('current') },
  ]
  return series.filter(({ points }) => points.length > 0)
}
