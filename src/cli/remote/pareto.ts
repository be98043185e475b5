/** `svc releases --pareto`: what was tried, by score, cost and time, and what of it nothing else beats. */
import type { ReleaseRow } from '@svc-ai/client'
import { counted, duration, moneyText, paretoOf, scoreText, type ParetoPoint } from '../../presentation/index.ts'
import { table, type Cell, type TableColumn } from '../screen/table.ts'
import { oneLine } from '../screen/text.ts'
import type { Surroundings } from '../surroundings.ts'
import { handleOf } from './release.ts'

const COLUMNS: readonly TableColumn[] = [
  { title: '' },
  { title: 'TREE', isNumber: true },
  { title: 'RESULT' },
  { title: 'SCORE', isNumber: true },
  { title: 'COST', isNumber: true },
  { title: 'TIME', isNumber: true },
  { title: 'FRONTIER' },
]

export function paretoText(scenario: string, rows: readonly ReleaseRow[], surroundings: Surroundings): string {
  const points = paretoOf(rows)
  if (points.length === 0) return `${oneLine(scenario)}: no step has played anything yet`
  const frontier = points.filter(({ isOnFrontier }) => isOnFrontier).length
  return [
    `${oneLine(scenario)}: ${counted(points.length, 'tree was', 'trees were')} tried, and nothing beats ${frontier} of them; means per episode`,
    '',
    table(COLUMNS, points.map(cellsOf), surroundings),
  ].join('\n')
}

function cellsOf({ row, outcome, score, cost, seconds, isServed, isOnFrontier }: ParetoPoint<ReleaseRow>): readonly Cell[] {
  return [
    isServed ? { text: '*', tone: 'good' } : '',
    handleOf(row),
    oneLine(outcome.toLowerCase()),
    scoreText(score),
    cost === null ? 'unknown' : moneyText(cost),
    seconds === null ? 'unknown' : duration(seconds),
    isOnFrontier ? { text: 'yes', tone: 'good' } : '',
  ]
}

export const paretoJson = (rows: readonly ReleaseRow[]) =>
  paretoOf(rows).map(({ row, outcome, score, cost, seconds, isServed, isOnFrontier }) => ({
    step: row.step,
    release_id: row.release_id,
    outcome: outcome.toLowerCase(),
    mean_score: score,
    mean_cost: cost,
    mean_seconds: seconds,
    served: isServed,
    on_frontier: isOnFrontier,
  }))
