/** What the plots of a chain of releases show: score with its interval, cost, time, and the tasks over the releases. Pure. */
import {
  gainInterval,
  madeRelease,
  meanScores,
  numberAt,
  objectAt,
  objectsAt,
  statusOf,
  textAt,
  type UnknownRecord,
} from '../../../src/presentation/index.ts'
import type { PlotSeries } from '../ui/plot-layout.ts'
import type { ChainStep, StepChain } from './chain.ts'

/** What was tried and what was served then. The interval is that of the difference, on top of what was served. */
export function scoreSeries({ steps, rows }: StepChain): readonly PlotSeries[] {
  const played = steps.toReversed().flatMap(({ row, name }) => {
    const scores = meanScores(row.metrics)
    return scores === null ? [] : [{ x: row.step, label: `${name}, ${statusOf(rows, row).word}`, scores, gain: gainInterval(row.metrics) }]
  })
  const candidates = played.flatMap(({ x, label, scores: { candidate, current }, gain }) => {
    if (candidate === null) return []
    const interval =
      gain === null || current === null ? {} : { interval: [boundedScore(current + gain[0]), boundedScore(current + gain[1])] as const }
    return [{ x, y: candidate, label, ...interval }]
  })
  const served = played.flatMap(({ x, label, scores: { current } }) => (current === null ? [] : [{ x, y: current, label }]))
  const series: readonly PlotSeries[] = [
    { name: 'candidate', tone: 'accent', points: candidates },
    { name: 'served then', tone: 'plain', points: served },
  ]
  return series.filter(({ points }) => points.length > 0)
}

/** Only releases are numbered: what was tried and made none has no mark. */
export const releaseNames = ({ steps }: StepChain): ReadonlyMap<number, string> =>
  new Map(steps.flatMap(({ row, name }) => (madeRelease(row) ? [[row.step, name] as const] : [])))

/** A score is from 0 to 1, and the sum of one and a difference need not be. */
const boundedScore = (score: number): number => Math.min(1, Math.max(0, score))

const MEASURES = {
  cost: { title: 'Cost over releases, mean per episode', unit: undefined },
  seconds: { title: 'Time over releases, mean per episode', unit: 's' },
} as const

/** Cost and time beside the score, of what was tried and of what was served then. */
export function measurePlots({ steps, rows }: StepChain) {
  return (['cost', 'seconds'] as const).flatMap((measure) => {
    const of = (side: 'candidate' | 'current') =>
      steps.toReversed().flatMap(({ row, name }) => {
        const y = numberAt(row.metrics, `${side}_mean_${measure}`)
        return y === null ? [] : [{ x: row.step, y, label: `${name}, ${statusOf(rows, row).word}` }]
      })
    const series: readonly PlotSeries[] = [
      { name: 'candidate', tone: 'accent', points: of('candidate') },
      { name: 'served then', tone: 'plain', points: of('current') },
    ]
    // A cost of 0 everywhere is that of an agent that asks no model: a plot of it would say nothing.
    const drawn = series.filter(({ points }) => points.some(({ y }) => y !== 0))
    return drawn.length === 0 ? [] : [{ ...MEASURES[measure], series: drawn }]
  })
}

const CURVES = [
  { key: 'reward_mean', title: 'Reward over steps, mean of the batch', unit: undefined },
  { key: 'kl_to_base', title: 'Distance from the base (KL), per token', unit: 'nats' },
  { key: 'entropy', title: 'Entropy, per token', unit: 'nats' },
  { key: 'answer_tokens_mean', title: 'Length of answers, mean', unit: 'tokens' },
] as const

/** What a training of weights is watched by, and how its candidates answered held-out tasks before they were published. */
export function trainingPlots({ steps, rows }: StepChain) {
  const pointsOf = (read: (metrics: UnknownRecord) => number | null) =>
    steps.toReversed().flatMap(({ row, name }) => {
      const y = read(row.metrics)
      return y === null ? [] : [{ x: row.step, y, label: `${name}, ${statusOf(rows, row).word}` }]
    })
  const curves = CURVES.map(({ key, title, unit }) => {
    const series: PlotSeries = { name: 'batch', tone: 'accent', points: pointsOf((metrics) => numberAt(metrics, key)) }
    return { title, unit, series: [series] }
  })
  const examined = (side: string) => pointsOf((metrics) => numberAt(objectAt(metrics, 'selection'), `${side}_score`))
  const heldOut: readonly PlotSeries[] = [
    { name: 'candidate', tone: 'accent', points: examined('candidate') },
    { name: 'served then', tone: 'plain', points: examined('current') },
  ]
  const plots = [...curves, { title: 'Held-out tasks, share answered', unit: undefined, series: heldOut }]
  return plots.flatMap((plot) => {
    const series = plot.series.filter(({ points }) => points.length > 0)
    return series.length === 0 ? [] : [{ ...plot, series }]
  })
}

export interface TaskHeat {
  /** Oldest first. */
  readonly columns: readonly ChainStep[]
  readonly families: readonly { readonly family: string | null; readonly rows: readonly HeatRow[] }[]
}
interface HeatRow {
  readonly task: string
  /** A score for each column; null where it was not played. */
  readonly cells: readonly (number | null)[]
}

const COLUMNS_MAX = 24

/** The score of every task in every release that played it. Null where no release has any. */
export function taskHeat({ steps }: StepChain): TaskHeat | null {
  const columns = steps
    .filter(({ row }) => madeRelease(row) && objectsAt(row.metrics, 'task_scores').length > 0)
    .slice(0, COLUMNS_MAX)
    .toReversed()
  if (columns.length === 0) return null
  const scores = columns.map(({ row }) => new Map(objectsAt(row.metrics, 'task_scores').map((one) => [textAt(one, 'task') ?? '', one])))
  const families = familiesIn(columns.map(({ row }) => row.metrics))
  const tasks = [...new Set(scores.flatMap((byTask) => [...byTask.keys()]))].toSorted()
  const rows = tasks.map((task) => ({
    task,
    family: families.get(task) ?? null,
    cells: scores.map((byTask) => numberAt(byTask.get(task) ?? {}, 'candidate')),
  }))
  const grouped = [...Map.groupBy(rows, ({ family }) => family)].map(([family, own]) => ({ family, rows: own }))
  return { columns, families: grouped.toSorted((one, other) => order(one.family, other.family)) }
}

/** By name; tasks without one last. */
const order = (one: string | null, other: string | null): number =>
  one === other ? 0 : one === null ? 1 : other === null ? -1 : one < other ? -1 : 1

/** By task; the newest word counts. */
const familiesIn = (metrics: readonly UnknownRecord[]): ReadonlyMap<string, string> =>
  new Map(
    metrics
      .flatMap((one) => objectsAt(one, 'task_scores'))
      .flatMap((scored): (readonly [string, string])[] => {
        const [task, family] = [textAt(scored, 'task'), textAt(scored, 'family')]
        return task === null || family === null ? [] : [[task, family]]
      }),
  )
