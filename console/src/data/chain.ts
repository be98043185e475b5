/** The chain of a scenario's steps as the console lists it. What is shown of each step comes from the presentation. Pure. */
import type { CatalogRow, ReleaseRow } from '@svc-ai/client'
import {
  duration,
  isRejectable,
  makerOf,
  moneyText,
  moveOf,
  paretoOf,
  stepName,
  stepView,
  type StepMove,
  type StepView,
} from '../../../src/presentation/index.ts'
import type { PlotSeries } from '../ui/plot-layout.ts'

export interface ChainStep {
  readonly row: ReleaseRow
  /** In the address of the step's view: its place in the catalog where there are files, else its number. */
  readonly id: string
  /** "v3" of a release; what it was and when of a step that made none. */
  readonly name: string
  /** The path of the page that may be shared; null where there is none. */
  readonly pagePath: string | null
}
export interface StepChain {
  /** Newest first. */
  readonly steps: readonly ChainStep[]
  readonly rows: readonly ReleaseRow[]
  readonly head: ChainStep | null
  /** Whether clients pull files from the scenario, so that versions can be compared. */
  readonly hasFiles: boolean
}

export interface StepProps {
  readonly scenario: string
  readonly chain: StepChain
  readonly step: ChainStep
}

/** Of a scenario that serves files: the catalog, oldest first. */
export function chainOfCatalog(rows: readonly CatalogRow[]): StepChain {
  const steps = rows.map((row, place) => ({ row, id: String(place), name: stepName(row, place), pagePath: localPath(row.page_path) }))
  return chainOf(steps.toReversed(), true)
}

/** Of any other: its releases, newest first. */
export const chainOfReleases = (rows: readonly ReleaseRow[]): StepChain =>
  chainOf(
    rows.map((row) => ({ row, id: String(row.step), name: stepName(row), pagePath: null })),
    false,
  )

const chainOf = (steps: readonly ChainStep[], hasFiles: boolean): StepChain => ({
  steps,
  rows: steps.map(({ row }) => row),
  head: steps.find(({ row }) => row.current) ?? null,
  hasFiles,
})

/** By the id in the address of its view, by its number in the history (`@12`), or by the release that it made. */
export const stepIn = (chain: StepChain, id: string): ChainStep | undefined =>
  chain.steps.find((step) => step.id === id || `@${step.row.step}` === id) ?? madeBy(chain, id)

/** A link may only lead to a page of this service. */
const localPath = (path: string): string | null => (/^\/(?!\/)/.test(path) ? path : null)

export const viewOf = (chain: StepChain, { row }: ChainStep): StepView =>
  stepView(row, { rows: chain.rows, nameOf: (other) => chain.steps.find((step) => step.row === other)?.name ?? '' })

export const moveIn = ({ rows }: StepChain, { row }: ChainStep): StepMove | null => moveOf(rows, row)

export const mayReject = ({ rows }: StepChain, { row }: ChainStep): boolean => isRejectable(rows, row)

/** The step that made a release; later steps that only ran on it have the same id. */
export function madeBy({ steps, rows }: StepChain, releaseId: string | null | undefined): ChainStep | undefined {
  const maker = makerOf(rows, releaseId)
  return maker && steps.find(({ row }) => row === maker)
}

export interface ParetoPlot {
  readonly title: string
  readonly series: readonly PlotSeries[]
}

/** Score against money and against time, once what was tried differs in it. */
export function paretoPlots({ steps, rows }: StepChain): readonly ParetoPlot[] {
  const points = paretoOf(rows)
  const nameOf = (row: ReleaseRow): string => steps.find((step) => step.row === row)?.name ?? ''
  const seriesOf = (measure: 'cost' | 'seconds', isOnFrontier: boolean) =>
    points.flatMap(({ row, score, outcome, isServed, ...point }) => {
      const x = point[measure]
      if (x === null || point.isOnFrontier !== isOnFrontier) return []
      return [{ x, y: score, label: `${nameOf(row)}, ${isServed ? 'Served now' : outcome}, ${PARETO[measure].text(x)}` }]
    })
  return (['cost', 'seconds'] as const).flatMap((measure) => {
    const series: readonly PlotSeries[] = [
      { name: 'nothing beats it', tone: 'good', points: seriesOf(measure, true) },
      { name: 'beaten', tone: 'plain', points: seriesOf(measure, false) },
    ]
    const drawn = series.filter((one) => one.points.length > 0)
    // Where all cost the same, the plot would be one column of points.
    const count = new Set(drawn.flatMap((one) => one.points.map(({ x }) => x))).size
    return count < 2 ? [] : [{ title: PARETO[measure].title, series: drawn }]
  })
}

const PARETO = {
  cost: { title: 'Score against cost, means per episode', text: (cost: number) => `cost ${moneyText(cost)}` },
  seconds: { title: 'Score against seconds, means per episode', text: duration },
} as const
